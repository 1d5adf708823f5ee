public import Foundation
public import QueryLanguage

/// The changes of one store that the other stores of an exchange do not have yet, as values.
///
/// Stores of the same model exchange their changes over a log with one total order, to which a change set is appended
/// only if its ``sequence`` is the next one. A change set names objects by their global identifiers, so that each store
/// finds its own objects. It contains the net effect of any number of transactions: an object that was inserted and
/// deleted in between is not in it, and a property has its last value.
///
/// Many changes make several change sets, each about as large as a limit: a store makes the next change set when it has
/// applied the previous one. After each change set, all references lead to objects, and unique values are unique: a
/// reference or a list whose objects follow later is in the change set of these objects.
///
/// A change set is not encrypted. A program that passes it through a foreign service seals it first.
public struct ChangeSet: Codable, Hashable, Sendable, Identifiable {
    /// The identifier, a UUID of version 7.
    public let id: UUID
    /// The file that made the change set: ``ExchangeState/replica``. A copy of a file has the same value.
    public let origin: UUID
    /// The position in the common order for which the change set was made.
    public let sequence: Int64
    /// The time at which the change set was made, according to the clock of its process.
    public let timestamp: Date
    /// The authors of the transactions, each once, in the order of their first transactions, and each up to
    /// ``PersistentHistoryTransaction/authorByteLimit``.
    public let authors: [String]
    /// The `exchangeHash` of the model.
    public let modelHash: String
    /// The changes, each object once.
    public let changes: [Change]

    /// The size above which a change set contains a part of the changes, unless a request names another size: 4 MiB.
    public static let defaultSizeLimit = 4 << 20

    /// Makes a change set.
    public init(
        id: UUID,
        origin: UUID,
        sequence: Int64,
        timestamp: Date,
        authors: [String],
        modelHash: String,
        changes: [Change]
    ) {
        self.id = id
        self.origin = origin
        self.sequence = sequence
        self.timestamp = timestamp
        self.authors = authors
        self.modelHash = modelHash
        self.changes = changes
    }

    /// The change of one object.
    public struct Change: Codable, Hashable, Sendable {
        /// The kind of a change.
        public enum Kind: String, Codable, Sendable {
            /// The object is new to the other stores. A property without a value is null or empty.
            case insert
            /// The properties with values were changed.
            case update
            /// The object was deleted.
            case delete
        }

        /// The global identifier of the object.
        public let identifier: UUID
        /// The name of the entity.
        public let entity: String
        /// The kind.
        public let kind: Kind
        /// The new values of properties, by name.
        public let values: [String: PropertyValue]

        /// Makes a change.
        public init(identifier: UUID, entity: String, kind: Kind, values: [String: PropertyValue]) {
            self.identifier = identifier
            self.entity = entity
            self.kind = kind
            self.values = values
        }
    }

    /// The value of a property.
    public enum PropertyValue: Hashable, Sendable {
        /// The value of an attribute in its stored form.
        case attribute(Value)
        /// The global identifier of the destination of a to-one relationship.
        case reference(UUID?)
        /// The global identifiers of all members of a to-many relationship, in their order if it is ordered. The
        /// members of a relationship with a to-one inverse follow from the inverse; the list is their order.
        case members([UUID])
    }
}

extension ChangeSet.PropertyValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case integer = "i"
        /// The bits of a double: a text form would lose the sign of zero, and has no infinity.
        case real = "r"
        case text = "t"
        case blob = "b"
        case null = "n"
        case reference = "o"
        case members = "m"
    }

    /// Decodes a value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a value has exactly one form")
            )
        }
        self =
            switch key {
            case .integer: .attribute(.integer(try container.decode(Int64.self, forKey: key)))
            case .real: .attribute(.real(Double(bitPattern: try container.decode(UInt64.self, forKey: key))))
            case .text: .attribute(.text(try container.decode(String.self, forKey: key)))
            case .blob: .attribute(.blob(try container.decode(Data.self, forKey: key)))
            case .null: .attribute(.null)
            case .reference: .reference(try container.decodeIfPresent(UUID.self, forKey: key))
            case .members: .members(try container.decode([UUID].self, forKey: key))
            }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .attribute(.null): try container.encode(true, forKey: .null)
        case .attribute(.integer(let integer)): try container.encode(integer, forKey: .integer)
        case .attribute(.real(let real)): try container.encode(real.bitPattern, forKey: .real)
        case .attribute(.text(let text)): try container.encode(text, forKey: .text)
        case .attribute(.blob(let data)): try container.encode(data, forKey: .blob)
        case .attribute(.uuid(let uuid)):
            try container.encode(withUnsafeBytes(of: uuid.uuid) { Data($0) }, forKey: .blob)
        case .reference(let identifier?): try container.encode(identifier, forKey: .reference)
        case .reference(nil): try container.encodeNil(forKey: .reference)
        case .members(let identifiers): try container.encode(identifiers, forKey: .members)
        }
    }
}

extension ManagedObjectModel {
    /// A hash of the entities, properties, types and constraints of the model. Stores exchange changes if their models
    /// have the same hash. It is the same on all platforms and in all versions of the package.
    ///
    /// - Complexity: O(number of properties).
    public var exchangeHash: String {
        // FNV-1a with 64 bits: the hash detects mistakes, not attacks.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            // The byte 255 separates the texts, since it does not occur in UTF-8.
            hash = (hash ^ 255) &* 0x100_0000_01b3
        }
        for entity in entities.sorted(by: { $0.name < $1.name }) {
            add(entity.name)
            add(entity.superentity?.name ?? "")
            add(entity.isAbstract ? "abstract" : "")
            for property in entity.properties.sorted(by: { $0.name < $1.name }) {
                add(property.name)
                switch property {
                case .attribute(let attribute): add("\(attribute.type.rawValue) \(attribute.isOptional)")
                case .relationship(let relationship):
                    add("\(relationship.isToMany) \(relationship.isOptional) \(relationship.isOrdered)")
                    add(relationship.destination.name)
                    add(relationship.inverse?.name ?? "")
                }
            }
            for constraint in entity.uniquenessConstraints.map({ $0.map { entity.properties[$0].name }.sorted() })
                .sorted(by: { $0.lexicographicallyPrecedes($1) })
            {
                add("unique")
                for name in constraint { add(name) }
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
