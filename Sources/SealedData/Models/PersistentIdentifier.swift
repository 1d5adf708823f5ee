import Foundation
import ObjectGraph

/// The identity of a model: its store, its entity and its primary key.
///
/// A new model has a temporary identifier until it is saved. A permanent identifier can be stored, encoded, and used
/// after the store was closed and reopened. It is never reused for another model.
public struct PersistentIdentifier: PredicateObject, Hashable, Identifiable, Sendable {
    /// The opaque identity of a ``PersistentIdentifier``.
    public struct ID: Hashable, Sendable {
        fileprivate let storeIdentifier: String?
        fileprivate let entityName: String
        fileprivate let key: Key
    }

    /// A primary key: a number in encrypted stores, any text in custom stores.
    enum Key: Hashable, Sendable {
        case number(Int64)
        case text(String)
    }

    /// The identity.
    public let id: ID

    /// The name of the entity.
    public var entityName: String { id.entityName }

    /// The identity of the store; nil for a model that has not been saved yet.
    public var storeIdentifier: String? { id.storeIdentifier }

    var key: Key { id.key }

    init(storeIdentifier: String?, entityName: String, key: Key) {
        id = ID(storeIdentifier: storeIdentifier, entityName: entityName, key: key)
    }

    init(_ id: ManagedObjectID) {
        if let table = PrimaryKeyTable.table(forStoreUUID: id.storeUUID), let known = table.identifier(for: id.key) {
            self = known
        } else {
            self.init(storeIdentifier: id.storeUUID?.uuidString, entityName: id.entity.name, key: .number(id.key))
        }
    }

    /// Returns the identifier as a `ManagedObjectID`; nil if the coordinator's model has no such entity.
    func managedObjectID(in coordinator: PersistentStoreCoordinator) -> ManagedObjectID? {
        guard let entity = coordinator.model.entitiesByName[entityName] else { return nil }
        if storeIdentifier != nil,
            let table = PrimaryKeyTable.table(forStoreUUID: coordinator.storeUUID(for: entity))
        {
            return ManagedObjectID(entity: entity, storeUUID: table.storeUUID, key: table.key(for: self, in: entity))
        }
        guard case .number(let number) = key else { return nil }
        return ManagedObjectID(entity: entity, storeUUID: storeIdentifier.flatMap(UUID.init(uuidString:)), key: number)
    }

    /// Makes the identifier of a model in a store of any kind.
    ///
    /// - Parameters:
    ///   - storeIdentifier: The identity of the store.
    ///   - entityName: The name of the entity.
    ///   - primaryKey: The model's primary key in the store.
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String,
        entityName: String,
        primaryKey: T
    ) throws -> PersistentIdentifier {
        let key: Key =
            (primaryKey as? any BinaryInteger).flatMap { Int64(exactly: $0) }.map(Key.number)
            ?? .text(primaryKey.description)
        return PersistentIdentifier(storeIdentifier: storeIdentifier, entityName: entityName, key: key)
    }
}

extension PersistentIdentifier: Comparable {
    /// Orders by store, entity and primary key, with unsaved models first.
    public static func < (left: PersistentIdentifier, right: PersistentIdentifier) -> Bool {
        if left.storeIdentifier != right.storeIdentifier {
            return (left.storeIdentifier ?? "") < (right.storeIdentifier ?? "")
        }
        if left.entityName != right.entityName { return left.entityName < right.entityName }
        return switch (left.key, right.key) {
        case (.number(let left), .number(let right)): left < right
        case (.text(let left), .text(let right)): left < right
        case (.number, .text): true
        case (.text, .number): false
        }
    }
}

extension PersistentIdentifier: Codable {
    private enum CodingKeys: String, CodingKey {
        case storeIdentifier, entityName, primaryKey
    }

    /// Decodes the format of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let key: Key =
            if let number = try? container.decode(Int64.self, forKey: .primaryKey) {
                .number(number)
            } else {
                .text(try container.decode(String.self, forKey: .primaryKey))
            }
        self.init(
            storeIdentifier: try container.decodeIfPresent(String.self, forKey: .storeIdentifier),
            entityName: try container.decode(String.self, forKey: .entityName),
            key: key
        )
    }

    /// Encodes the store, the entity and the primary key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
        try container.encode(entityName, forKey: .entityName)
        switch key {
        case .number(let number): try container.encode(number, forKey: .primaryKey)
        case .text(let text): try container.encode(text, forKey: .primaryKey)
        }
    }
}
