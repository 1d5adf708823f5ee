import Foundation

extension Value {
    /// Returns whether the value is null or has the stored form of an attribute type.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type.storage) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        case (.uuid, _): type == .uuid
        default: false
        }
    }

    /// Returns whether an attribute of a type can hold the value: it is null or the stored form of a value of the type.
    ///
    /// Saves, batch requests, imports and received changes refuse other values, and the check of a store finds them. So
    /// no store sends a value that another store refuses.
    package func isRepresentable(as type: AttributeType) -> Bool {
        guard fits(type) else { return false }
        return switch (self, type) {
        case (.integer(let integer), _): type.integerRange?.contains(integer) ?? true
        case (.real(let real), .float): !real.isNaN && (real.isInfinite || Float(real).isFinite)
        case (.real(let real), _): !real.isNaN
        case (.text(let text), .url): URL(string: text) != nil
        case (.text(let text), .composite): JSONSlice(validating: text) != nil
        case (.blob(let data), .uuid): data.count == 16
        // Equal numbers have equal bytes: comparisons, indexes and unique values depend on it.
        case (.blob, .decimal): Decimal(storedValue: self)?.storedValue == self
        case (.null, _), (.text, _), (.blob, _), (.uuid, _): true
        }
    }
}

extension AttributeType {
    /// Whether an attribute of the type cannot hold all values of its storage class, see
    /// ``Value/isRepresentable(as:)``. SQLite stores NaN as NULL, which no type of reals can hold.
    package var restrictsStoredValues: Bool {
        switch self {
        case .int8, .int16, .int32, .uint8, .uint16, .uint32, .bool, .float, .decimal, .uuid, .url, .composite: true
        case .int64, .uint64, .double, .string, .date, .data: false
        }
    }
}
