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
        switch (ValueText(value, as: type), type.form) {
        case (nil, _): self = .none
        case (_, .json): self = Self.composite(value)
        // A line of JSON has decimals as texts, so that no program reads them as reals.
        case (.string("NaN")?, .decimal): self = .word("nan")
        case (.literal(let text)?, _), (.string(let text)?, .decimal): self = .literal(text)
        case (.string(let text)?, _): self = .word(text)
        }
    }

    private static func composite(_ value: Value) -> AttributeText {
        String(storedValue: value).map { ValueText.isLineOfJSON($0) ? .literal($0) : .word($0) } ?? .none
    }
}
