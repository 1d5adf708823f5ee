import Foundation
import ObjectGraph

/// The value of a property in an encoded snapshot.
///
/// A snapshot does not contain the types of its values: a text may be a date, and only the decoder knows the format of
/// dates. The value is therefore decoded in every possible way, and the property's type, once known, selects a result.
struct EncodedValue: Sendable {
    private let json: JSONValue
    private var date: Date?
    private var data: Data?
    private var real: Double?
    private var identifier: PersistentIdentifier?
    private var identifiers: [PersistentIdentifier]?

    init<Key: CodingKey>(_ key: Key, in container: KeyedDecodingContainer<Key>) throws {
        if let date = try? container.decode(Date.self, forKey: key) { self.date = date }
        // Some formats have values without a JSON form.
        json = (try? container.decode(JSONValue.self, forKey: key)) ?? .null
        switch json {
        case .null:
            data = try? container.decode(Data.self, forKey: key)
        case .bool:
            break
        case .integer, .unsigned, .real, .decimal:
            real = try? container.decode(Double.self, forKey: key)
        case .string:
            data = try? container.decode(Data.self, forKey: key)
            // The decoder may represent infinities as texts.
            real = try? container.decode(Double.self, forKey: key)
        case .array:
            data = try? container.decode(Data.self, forKey: key)
            identifiers = try? container.decode([PersistentIdentifier].self, forKey: key)
        case .object:
            identifier = try? container.decode(PersistentIdentifier.self, forKey: key)
        }
    }

    /// Writes the value as it was read.
    func encode<Key: CodingKey>(_ key: Key, into container: inout KeyedEncodingContainer<Key>) throws {
        if json == .null, let data {
            try container.encode(data, forKey: key)
        } else if json == .null, let date {
            try container.encode(date, forKey: key)
        } else {
            try container.encode(json, forKey: key)
        }
    }

    /// Whether the value is null in every form.
    var isNull: Bool { json == .null && date == nil && data == nil }

    // MARK: Attributes

    /// Returns the value as an attribute of a type; nil if it cannot have the type.
    func value(as type: AttributeType) -> Value? {
        if isNull { return .null }
        switch type.form {
        case .integer(let range):
            if case .integer(let integer) = json, range.contains(integer) { return .integer(integer) }
        case .unsigned: return unsigned?.storedValue
        case .boolean: if case .bool(let bool) = json { return bool.storedValue }
        case .float: return real.map { Float($0).storedValue }
        case .double: return real.map(\.storedValue)
        case .decimal: return decimal?.storedValue
        case .text: return string.map(\.storedValue)
        case .date: return date.map(\.storedValue)
        case .uuid: return string.flatMap(UUID.init(uuidString:)).map(\.storedValue)
        case .url: return string.map { .text($0) }
        case .bytes: return data.map(\.storedValue)
        case .json: return (try? json.text).map { .text($0) }
        }
        return nil
    }

    private var string: String? {
        if case .string(let string) = json { string } else { nil }
    }

    private var unsigned: UInt64? {
        switch json {
        case .integer(let integer): UInt64(exactly: integer)
        case .unsigned(let unsigned): unsigned
        default: nil
        }
    }

    private var decimal: Decimal? {
        switch json {
        case .integer(let integer): Decimal(integer)
        case .unsigned(let unsigned): Decimal(unsigned)
        case .real(let real): Decimal(string: "\(real)", locale: Locale(identifier: "en_US_POSIX"))
        case .decimal(let decimal): decimal
        default: nil
        }
    }

    // MARK: Relationships

    /// The value as the destinations of a relationship; nil if it is not an identifier or a list of identifiers.
    var destinations: [PersistentIdentifier]? {
        if json == .null { return [] }
        return identifiers ?? identifier.map { [$0] }
    }

    /// Returns the value with identifiers replaced.
    func remapped(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) -> SnapshotValue {
        if let identifier, let new = identifiers[identifier] { return .toOne(new) }
        if let old = self.identifiers, old.contains(where: { identifiers[$0] != nil }) {
            return .toMany(old.map { identifiers[$0] ?? $0 })
        }
        return .encoded(self)
    }
}
