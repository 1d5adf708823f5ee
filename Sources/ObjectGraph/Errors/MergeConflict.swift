/// An object that was changed or deleted in this context and, since it was read, by another writer.
public struct MergeConflict: Sendable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The version at which the object was read; 0 if it was never read.
    public let oldVersion: Int
    /// The version in the store; 0 if the store no longer has the object.
    public let newVersion: Int
    /// The attributes, and the keys of to-one relationships, in the context.
    public let objectSnapshot: [String: Value]
    /// The same values at the time of reading; nil if the object was never read.
    public let cachedSnapshot: [String: Value]?
    /// The same values in the store; nil if the store no longer has the object.
    public let persistedSnapshot: [String: Value]?

    package init(
        objectID: ManagedObjectID,
        oldVersion: Int = 0,
        newVersion: Int = 0,
        objectSnapshot: [String: Value] = [:],
        cachedSnapshot: [String: Value]? = nil,
        persistedSnapshot: [String: Value]? = nil
    ) {
        self.objectID = objectID
        self.oldVersion = oldVersion
        self.newVersion = newVersion
        self.objectSnapshot = objectSnapshot
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
    }
}

extension MergeConflict: CustomStringConvertible, CustomReflectable {
    /// The entity and the versions, never a value.
    public var description: String {
        "\(objectID.entity.name): read at version \(oldVersion), the store has version \(newVersion)"
    }

    /// The object and the versions, so that `dump` and debuggers print no values.
    public var customMirror: Mirror {
        Mirror(self, children: ["objectID": objectID, "oldVersion": oldVersion, "newVersion": newVersion])
    }
}

/// Objects with the same values of properties that must be unique.
public struct ConstraintConflict: Hashable, Sendable {
    /// The name of the entity that declares the constraint.
    public let entity: String
    /// The names of the constraint's properties.
    public let properties: [String]
    /// The saved object with the values; nil if only unsaved objects have them.
    public let databaseObject: ManagedObjectID?
    /// The new or changed objects with the values.
    public let conflictingObjects: [ManagedObjectID]
}

extension ConstraintConflict: CustomStringConvertible {
    /// The entity, the properties and the number of objects; never the values.
    public var description: String {
        let objects = [databaseObject].compactMap(\.self) + conflictingObjects
        let text =
            "\(max(2, objects.count)) objects of entity '\(entity)' have the same \(properties.joined(separator: ", "))"
        let entities = Set(objects.map(\.entity.name)).sorted()
        guard entities.count > 1 else { return text }
        return text
            + ": they are of the entities \(entities.map { "'\($0)'" }.joined(separator: ", ")), and an object can "
            + "become an update of an object of the same entity only"
    }
}
