import Foundation
import ObjectGraph

/// The meaning of the values of a database column, if their storage class does not show it.
public enum ColumnInterpretation: String, Sendable, CaseIterable, Codable {
    /// Numbers of seconds since 1970, which become dates.
    case unixSeconds
    /// Numbers of milliseconds since 1970, which become dates.
    case unixMilliseconds
    /// Numbers of seconds since 2001, which become dates.
    case referenceSeconds
    /// Texts in ISO 8601, which become dates. A text without an offset from UTC is taken as UTC.
    case iso8601
    /// Numbers: zero for false and any other number for true.
    case boolean
    /// Texts or 16 bytes, which become UUIDs.
    case uuid
    /// Texts, which become decimal numbers.
    case decimal
    /// Texts of JSON, which become composite values.
    case json

    var type: AttributeType {
        switch self {
        case .unixSeconds, .unixMilliseconds, .referenceSeconds, .iso8601: .date
        case .boolean: .bool
        case .uuid: .uuid
        case .decimal: .decimal
        case .json: .composite
        }
    }

    /// The seconds from 1970 to 2001.
    private static let epochOffset = 978_307_200.0

    /// The stored form of a value; nil if the value does not fit.
    func value(of value: Value) -> Value? {
        let number: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .real(let real): real
            default: nil
            }
        switch (self, value) {
        case (.unixSeconds, _): return number.map { .real($0 - Self.epochOffset) }
        case (.unixMilliseconds, _): return number.map { .real($0 / 1000 - Self.epochOffset) }
        case (.referenceSeconds, _): return number.map(Value.real)
        case (.iso8601, .text(let text)):
            let isComplete = text.hasSuffix("Z") || text.dropFirst(10).contains { $0 == "+" || $0 == "-" }
            return DateText.seconds(text.count == 10 ? text + "T00:00:00Z" : isComplete ? text : text + "Z").map(
                Value.real
            )
        case (.boolean, _): return number.map { .integer($0 == 0 ? 0 : 1) }
        case (.uuid, .text(let text)): return UUID(uuidString: text).map(Value.uuid)
        case (.uuid, .blob): return UUID(storedValue: value).map(Value.uuid)
        case (.decimal, .text(let text)): return ValueReading.decimal(text)
        case (.decimal, .integer(let integer)): return ValueReading.decimal(String(integer))
        case (.decimal, .real(let real)): return ValueReading.decimal("\(real)")
        case (.json, .text(let text)): return JSONSlice(validating: text) == nil ? nil : value
        case (.json, .blob(let data)):
            return String(validating: data, as: UTF8.self).flatMap { Self.json.value(of: .text($0)) }
        case (.iso8601, _), (.uuid, _), (.decimal, _), (.json, _): return nil
        }
    }
}
