extension Value {
    /// Returns whether the value is null or has the stored form of an attribute type.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type.storage) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        case (.uuid, _): type == .uuid
        default: false
        }
    }
}
