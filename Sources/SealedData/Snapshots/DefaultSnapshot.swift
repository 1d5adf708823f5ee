import ObjectGraph

/// The default snapshot type: the values of a model by property.
///
/// It is encoded as an object with the identifier under `persistentIdentifier` and each value under the name of its
/// property: attributes as values of their types, relationships as the identifiers of their destinations, nil as null.
///
/// ```json
/// {
///   "persistentIdentifier": { "entityName": "Trip", "primaryKey": "1B4E…", "storeIdentifier": "trips.json" },
///   "name": "Kyoto",
///   "stops": [{ "entityName": "Stop", "primaryKey": "77A0…", "storeIdentifier": "trips.json" }]
/// }
/// ```
public struct DefaultSnapshot: DataStoreSnapshot {
    /// The identifier of the model.
    public let persistentIdentifier: PersistentIdentifier
    private let values: [String: SnapshotValue]

    init(persistentIdentifier: PersistentIdentifier, values: [String: SnapshotValue]) {
        self.persistentIdentifier = persistentIdentifier
        self.values = values
    }

    /// Returns the same values under another identifier, with references to other models replaced.
    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        guard let remappedIdentifiers, !remappedIdentifiers.isEmpty else {
            return DefaultSnapshot(persistentIdentifier: persistentIdentifier, values: values)
        }
        return DefaultSnapshot(
            persistentIdentifier: persistentIdentifier,
            values: values.mapValues { $0.remapped(remappedIdentifiers) }
        )
    }

    // MARK: Models

    /// Makes the snapshot of a model.
    ///
    /// - Precondition: The backing data has an identifier.
    public init(
        from backingData: any BackingData,
        relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        guard let identifier = backingData.persistentModelID else {
            preconditionFailure("a snapshot needs the identifier of a model")
        }
        let object = (backingData as? any BackingObject)?.backingObject
        self.init(persistentIdentifier: identifier, values: object.map(Self.values) ?? [:])
    }

    /// Makes the snapshot of an object.
    init(of object: any GraphObject) {
        self.init(
            persistentIdentifier: PersistentIdentifier(object.managedObjectID),
            values: Self.values(of: object)
        )
    }

    private static func values(of object: any GraphObject) -> [String: SnapshotValue] {
        let properties = object.managedObjectID.entity.properties
        return Dictionary(
            uniqueKeysWithValues: properties.map { property in
                let value: SnapshotValue
                switch property {
                case .attribute(let attribute):
                    value = .attribute(object._$storedValue(at: property.slot), attribute.type)
                case .relationship(let relationship) where relationship.isToMany:
                    let members = object.memberObjects(at: property.slot)
                    value = .toMany(members.map { PersistentIdentifier($0.managedObjectID) })
                case .relationship:
                    let destination = object.destination(at: property.slot)
                    value = .toOne(destination.map { PersistentIdentifier($0.managedObjectID) })
                }
                return (property.name, value)
            }
        )
    }

    // MARK: Values

    /// Returns the value of an attribute; null if the snapshot does not contain it.
    ///
    /// - Throws: `DecodingError` if the snapshot's value does not have the attribute's type.
    func value(of attribute: Attribute) throws -> Value {
        let value: Value?
        switch values[attribute.name] {
        case nil: value = .null
        case .attribute(let stored, let type)?: value = type == attribute.type ? stored : nil
        case .encoded(let encoded)?: value = encoded.value(as: attribute.type)
        case .toOne?, .toMany?: value = nil
        }
        return try value ?? mismatch(attribute.name, "not a value of type \(attribute.type.rawValue)")
    }

    /// Returns the destinations of a relationship; nil if the snapshot does not contain it.
    ///
    /// - Throws: `DecodingError` if the snapshot's value is not an identifier.
    func destinations(of relationship: Relationship) throws -> [PersistentIdentifier]? {
        switch values[relationship.name] {
        case nil: return nil
        case .toOne(let identifier)?: return identifier.map { [$0] } ?? []
        case .toMany(let identifiers)?: return identifiers
        // An array is never null: the store that wrote this value encodes only the inverse.
        case .encoded(let encoded)? where relationship.isToMany && encoded.isNull: return nil
        case .encoded(let encoded)?:
            return try encoded.destinations ?? mismatch(relationship.name, "not an identifier")
        case .attribute?: return try mismatch(relationship.name, "not an identifier")
        }
    }

    private func mismatch<R>(_ property: String, _ problem: String) throws -> R {
        throw DecodingError.typeMismatch(
            DefaultSnapshot.self,
            .init(
                codingPath: [DataStoreSnapshotCodingKey.modeledProperty(property)],
                debugDescription: "\(problem) for \(persistentIdentifier.entityName).\(property)"
            )
        )
    }
}

extension DefaultSnapshot {
    /// Reads the format of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        var values: [String: SnapshotValue] = [:]
        for key in container.allKeys {
            guard case .modeledProperty(let name) = key else { continue }
            values[name] = .encoded(try EncodedValue(key, in: container))
        }
        self.init(
            persistentIdentifier: try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier),
            values: values
        )
    }

    /// Writes the identifier and the values by property.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (name, value) in values { try value.encode(.modeledProperty(name), into: &container) }
    }
}
