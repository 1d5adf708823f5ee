extension Value {
    /// Returns whether the value is null or has the stored form of an attribute type.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type.storage) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        case (.uuid, _): type == .uuid
        default: false
        }
    }

    /// Returns whether an attribute of a type can hold the value: it is null or has the stored form of the type, an
    /// integer is in the type's range, and a real is a number.
    package func isRepresentable(as type: AttributeType) -> Bool {
        guard fits(type) else { return false }
        return switch self {
        case .integer(let integer): type.integerRange?.contains(integer) ?? true
        case .real(let real): !real.isNaN
        case .null, .text, .blob, .uuid: true
        }
    }
}
