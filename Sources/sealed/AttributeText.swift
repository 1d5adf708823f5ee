import Foundation
import ObjectGraph
import SealedTransfer

/// The value of an attribute as text.
enum AttributeText {
    /// There is no value.
    case none
    /// A text, which is a string in JSON. Dates are in ISO 8601, bytes in Base64. A composite value is a text if its
    /// stored form is not JSON, or has several lines.
    case word(String)
    /// A text that is JSON in one line: numbers, `true` and `false`, composite values, and the seconds since 2001 of
    /// dates that have no text in ISO 8601.
    case literal(String)

    /// Formats a value.
    ///
    /// - Parameter type: The type of the attribute, which determines the meaning of the stored form.
    init(_ value: Value, as type: AttributeType) {
        let text: AttributeText? =
            switch type {
            case .int8, .int16, .int32, .int64: Int64(storedValue: value).map { .literal(String($0)) }
            case .uint8, .uint16, .uint32, .uint64: UInt64(storedValue: value).map { .literal(String($0)) }
            case .bool: Bool(storedValue: value).map { .literal(String($0)) }
            case .float: Float(storedValue: value).map { $0.isFinite ? .literal("\($0)") : .word("\($0)") }
            case .double: Double(storedValue: value).map { Self.number($0) }
            case .decimal: Decimal(storedValue: value).map { $0.isNaN ? .word("nan") : .literal($0.description) }
            case .string: String(storedValue: value).map { .word($0) }
            case .date: Date(storedValue: value).map { Self.date($0.timeIntervalSinceReferenceDate) }
            case .uuid: UUID(storedValue: value).map { .word($0.uuidString) }
            case .url: URL(storedValue: value).map { .word($0.absoluteString) }
            case .data: Data(storedValue: value).map { .word($0.base64EncodedString()) }
            case .composite:
                String(storedValue: value).map { ValueText.isLineOfJSON($0) ? .literal($0) : .word($0) }
            }
        self = text ?? .none
    }

    private static func number(_ number: Double) -> AttributeText {
        number.isFinite ? .literal("\(number)") : .word("\(number)")
    }

    private static func date(_ seconds: Double) -> AttributeText {
        DateText.text(secondsSince2001: seconds).map(AttributeText.word) ?? number(seconds)
    }
}
