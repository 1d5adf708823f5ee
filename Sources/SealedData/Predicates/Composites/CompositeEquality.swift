import Foundation
import ObjectGraph

/// The comparison of a composite value with the JSON text of a captured value.
enum CompositeEquality {
    /// A captured value.
    struct Captured {
        let text: String
        /// Whether equal values have the same text.
        let hasOneText: Bool
    }

    /// - Returns: nil if the texts of equal values can differ in more than the notation of numbers and characters: for
    ///   values that contain sets, or dictionaries whose keys are not texts. Also nil for values that contain NaN: it
    ///   differs from itself, but its text does not.
    static func captured(_ value: Any) -> Captured? {
        guard isOrdered(value, depth: 0), let text = encodedText(of: value) else { return nil }
        return Captured(text: text, hasOneText: hasOneForm(value, depth: 0))
    }

    /// Returns the JSON text of a value; nil if it cannot be encoded.
    static func encodedText(of value: Any) -> String? {
        guard let value = value as? any (Decodable & Encodable), let list = encodedList(of: value),
            case .text(let text) = JSONText(list).value(at: [.index(0)], as: .composite)
        else { return nil }
        return text
    }

    private static func encodedList<Whole: Decodable & Encodable>(of value: Whole) -> String? {
        try? CompositeAttribute([value]).encodedText()
    }

    /// The limit of the depth; deeper values count as having several forms.
    private static let largestDepth = 64

    private static func hasOneForm(_ value: Any, depth: Int) -> Bool {
        guard depth < largestDepth else { return false }
        if let value = value as? any StorableValue {
            switch type(of: value).attributeType.form {
            case .integer, .unsigned, .boolean, .uuid, .bytes: return true
            case .text: return (value as? String)?.utf8.allSatisfy { $0 < 0x80 && !variants.contains($0) } ?? false
            case .float, .double, .decimal, .date, .url, .json: return false
            }
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

    /// Returns whether all parts of a value have an order.
    private static func isOrdered(_ value: Any, depth: Int) -> Bool {
        guard depth < largestDepth else { return false }
        if let value = value as? any StorableValue { return (try? value.storedValue)?.isNotANumber != true }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set, .class: return false
        case .dictionary:
            return value is [String: Any] && mirror.children.allSatisfy { isOrdered($0.value, depth: depth + 1) }
        default: return mirror.children.allSatisfy { isOrdered($0.value, depth: depth + 1) }
        }
    }

    /// The ASCII characters to which other scalars are canonically equivalent: `;`, `` ` `` and `K`.
    private static let variants = Set(";`K".utf8)
}
