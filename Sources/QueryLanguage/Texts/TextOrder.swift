import Foundation

/// An order of texts.
public enum TextOrder: String, Codable, CaseIterable, Hashable, Sendable {
    /// Swift's order: by the scalars of Unicode's normalization form C.
    case lexical
    /// The order of the user's language, for lists that are displayed: case and diacritics decide only between
    /// otherwise equal texts, and digits are compared as numbers.
    case localizedStandard
    /// The order of the user's language.
    case localized

    /// - Returns: A negative number, 0 or a positive number.
    package func compare(_ left: String, _ right: String) -> Int {
        switch self {
        case .lexical: Self.compareScalars(left, right)
        case .localizedStandard: left.localizedStandardCompare(right).rawValue
        case .localized: left.localizedCompare(right).rawValue
        }
    }

    /// Swift's operator `<` is not a strict weak order: neither of the different texts "e\u{301}" and "\u{e9}a" is less
    /// than the other.
    private static func compareScalars(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let order = left.withUTF8 { left -> Int? in
            right.withUTF8 { right in
                let (left, right) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
                return TextSearch.isSimple(left) && TextSearch.isSimple(right) ? left.compareBytes(right) : nil
            }
        }
        if let order { return order }
        return left == right ? 0 : left.composed.compareBytes(right.composed)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the order of two blobs: a negative number, 0 or a positive number.
    package func compareBytes(_ other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        let order = common == 0 ? 0 : memcmp(baseAddress!, other.baseAddress!, common)
        return order != 0 ? Int(order) : count - other.count
    }
}

extension String {
    /// The text in normalization form C.
    package var composed: String {
        var text = self
        let isSimple = text.withUTF8 { TextSearch.isSimple(UnsafeRawBufferPointer($0)) }
        return isSimple ? self : precomposedStringWithCanonicalMapping
    }

    fileprivate func compareBytes(_ other: String) -> Int {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { UnsafeRawBufferPointer(left).compareBytes(UnsafeRawBufferPointer($0)) }
        }
    }
}
