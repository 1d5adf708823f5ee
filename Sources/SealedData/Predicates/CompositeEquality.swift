import Foundation
import ObjectGraph

/// The JSON text that a composite value has to have to equal a captured one.
enum CompositeEquality {
    /// - Returns: nil where equal values may have different texts: where there are sets in it, numbers that are not whole, or
    ///   texts that Unicode has several forms of.
    static func text(of value: Any) -> String? {
        hasOneForm(value, depth: 0) ? encodedText(of: value) : nil
    }

    /// The JSON text that a value is stored as; nil where it cannot be encoded.
    static func encodedText(of value: Any) -> String? {
        guard let value = value as? any (Decodable & Encodable), let list = encodedList(of: value),
            case .text(let text) = JSONText(list).value(at: [.index(0)], as: .composite)
        else { return nil }
        return text
    }

    private static func encodedList<Whole: Decodable & Encodable>(of value: Whole) -> String? {
        try? CompositeAttribute([value]).encodedText()
    }

    /// Deeper values are not looked at, and so not known to have one form.
    private static let largestDepth = 64

    private static func hasOneForm(_ value: Any, depth: Int) -> Bool {
        guard depth < largestDepth else { return false }
        switch value {
        case is any FixedWidthInteger, is Bool, is UUID, is Data: return true
        case let text as String: return text.utf8.allSatisfy { $0 < 0x80 && !variants.contains($0) }
        case is Double, is Float, is Date, is Decimal, is URL: return false
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .collection, .optional, .enum, .tuple:
            return mirror.children.allSatisfy { hasOneForm($0.value, depth: depth + 1) }
        case .dictionary:
            return value is [String: Any] && mirror.children.allSatisfy { hasOneForm($0.value, depth: depth + 1) }
        default: return false
        }
    }

    /// The characters of ASCII that other scalars are canonically equivalent to: `;`, `` ` `` and `K`.
    private static let variants = Set(";`K".utf8)
}
