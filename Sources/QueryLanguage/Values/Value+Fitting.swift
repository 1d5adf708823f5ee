extension Value {
    /// Whether the value is null or of the form that an attribute of the type is stored in.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type.storage) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        case (.uuid, _): type == .uuid
        default: false
        }
    }
}
