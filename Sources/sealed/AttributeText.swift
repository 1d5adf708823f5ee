import Foundation
import ObjectGraph

/// The value of an attribute as text.
enum AttributeText {
    /// There is no value.
    case none
    /// A text, which is a string in JSON. Dates are in ISO 8601, bytes in Base64.
    case word(String)
    /// A text that is JSON itself: numbers, `true` and `false`, composite values.
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
            case .double: Double(storedValue: value).map { $0.isFinite ? .literal("\($0)") : .word("\($0)") }
            case .decimal: Decimal(storedValue: value).map { $0.isNaN ? .word("nan") : .literal($0.description) }
            case .string: String(storedValue: value).map { .word($0) }
            case .date: Date(storedValue: value).map { .word($0.formatted(Self.dateFormat)) }
            case .uuid: UUID(storedValue: value).map { .word($0.uuidString) }
            case .url: URL(storedValue: value).map { .word($0.absoluteString) }
            case .data: Data(storedValue: value).map { .word($0.base64EncodedString()) }
            case .composite: String(storedValue: value).map { .literal($0) }
            }
        self = text ?? .none
    }

    private static var dateFormat: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
