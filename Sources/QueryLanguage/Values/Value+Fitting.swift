import Foundation

extension Value {
    /// Returns whether the value is null or has the stored form of an attribute type.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type.storage) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        case (.uuid, _): type.form == .uuid
        default: false
        }
    }

    /// Returns whether an attribute of a type can hold the value: it is null or the stored form of a value of the type.
    ///
    /// Saves, batch requests, imports and received changes refuse other values, and the check of a store finds them. So
    /// no store sends a value that another store refuses.
    package func isRepresentable(as type: AttributeType) -> Bool {
        guard fits(type) else { return false }
        return switch (type.form, self) {
        case (_, .null): true
        case (.integer(let range), .integer(let integer)): range.contains(integer)
        case (.boolean, .integer(let integer)): integer == 0 || integer == 1
        case (.float, .real(let real)): !real.isNaN && (real.isInfinite || Float(real).isFinite)
        case (.double, .real(let real)), (.date, .real(let real)): !real.isNaN
        case (.url, .text(let text)): URL(string: text) != nil
        case (.json, .text(let text)): JSONSlice(validating: text) != nil
        case (.uuid, .blob(let data)): data.count == 16
        // Equal numbers have equal bytes: comparisons, indexes and unique values depend on it.
        case (.decimal, .blob): Decimal(storedValue: self)?.storedValue == self
        case (.unsigned, _), (.text, _), (.bytes, _), (.uuid, _): true
        case (.integer, _), (.boolean, _), (.float, _), (.double, _), (.date, _), (.url, _), (.json, _), (.decimal, _):
            false
        }
    }
}
