import Foundation
import ObjectGraph

/// The value of a property in a ``DefaultSnapshot``.
enum SnapshotValue: Sendable {
    /// An attribute in its stored form.
    case attribute(Value, AttributeType)
    /// A to-one relationship.
    case toOne(PersistentIdentifier?)
    /// A to-many relationship.
    case toMany([PersistentIdentifier])
    /// A decoded value whose property is not known yet.
    case encoded(EncodedValue)
}

extension SnapshotValue {
    /// Writes the value. Attributes are written as values of their Swift types, so that the encoder's strategies for
    /// dates and data apply.
    func encode<Key: CodingKey>(_ key: Key, into container: inout KeyedEncodingContainer<Key>) throws {
        switch self {
        case .attribute(let value, let type):
            try encode(value, type, key, into: &container)
        case .toOne(let identifier):
            if let identifier {
                try container.encode(identifier, forKey: key)
            } else {
                try container.encodeNil(forKey: key)
            }
        case .toMany(let identifiers):
            try container.encode(identifiers, forKey: key)
        case .encoded(let value):
            try value.encode(key, into: &container)
        }
    }

    private func encode<Key: CodingKey>(
        _ value: Value,
        _ type: AttributeType,
        _ key: Key,
        into container: inout KeyedEncodingContainer<Key>
    ) throws {
        switch (type.form, value) {
        case (_, .null): try container.encodeNil(forKey: key)
        case (.boolean, .integer(let integer)): try container.encode(integer != 0, forKey: key)
        case (.unsigned, .integer(let integer)): try container.encode(UInt64(bitPattern: integer), forKey: key)
        case (_, .integer(let integer)): try container.encode(integer, forKey: key)
        case (.date, .real(let real)):
            try container.encode(Date(timeIntervalSinceReferenceDate: real), forKey: key)
        case (.float, .real(let real)): try container.encode(Float(real), forKey: key)
        case (_, .real(let real)): try container.encode(real, forKey: key)
        case (.json, .text(let text)): try container.encode(JSONValue(text: text), forKey: key)
        case (_, .text(let text)): try container.encode(text, forKey: key)
        case (.decimal, .blob): try container.encode(Decimal(storedValue: value) ?? 0, forKey: key)
        case (.uuid, .blob): try container.encode(UUID(storedValue: value), forKey: key)
        case (_, .blob(let data)): try container.encode(data, forKey: key)
        case (_, .uuid(let uuid)): try container.encode(uuid, forKey: key)
        }
    }

    /// Returns the value with identifiers replaced.
    func remapped(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) -> SnapshotValue {
        switch self {
        case .attribute: self
        case .toOne(let old): .toOne(old.map { identifiers[$0] ?? $0 })
        case .toMany(let old): .toMany(old.map { identifiers[$0] ?? $0 })
        case .encoded(let value): value.remapped(identifiers)
        }
    }
}
