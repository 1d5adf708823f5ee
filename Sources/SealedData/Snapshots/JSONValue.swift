import Foundation

/// A value of unknown type in an encoded snapshot, decoded without loss.
enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer beyond `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    /// A number with more digits than a `Double` has.
    case decimal(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let number = Self.number(in: container) {
            self = number
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    private static func number(in container: any SingleValueDecodingContainer) -> JSONValue? {
        let real = try? container.decode(Double.self)
        if let integer = try? container.decode(Int64.self) {
            // Negative zero, which no integer type represents.
            if integer == 0, let real, real.sign == .minus { return .real(real) }
            return .integer(integer)
        }
        if let unsigned = try? container.decode(UInt64.self) { return .unsigned(unsigned) }
        guard let decimal = try? container.decode(Decimal.self) else { return real.map(JSONValue.real) }
        guard let real else { return .decimal(decimal) }
        // A `Double` is printed with the fewest digits that identify it: if these equal the digits of the text, the
        // `Double` is exact.
        return Decimal(string: "\(real)", locale: Self.locale) == decimal ? .real(real) : .decimal(decimal)
    }

    private static let locale = Locale(identifier: "en_US_POSIX")

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .unsigned(let unsigned): try container.encode(unsigned)
        case .real(let real): try container.encode(real)
        case .decimal(let decimal): try container.encode(decimal)
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }
}

extension JSONValue {
    /// Parses a JSON text.
    ///
    /// - Throws: `DecodingError` if the text is not JSON.
    init(text: String) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    /// The value as text, in the form that ``CompositeAttribute`` writes.
    var text: String {
        get throws { String(decoding: try JSONEncoder.forCompositeValues().encode(self), as: UTF8.self) }
    }
}
