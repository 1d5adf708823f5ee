import ObjectGraph

extension DefaultStore {
    /// Writes changes in one transaction: all of them, or none if it throws.
    ///
    /// The inverses of relationships are updated, also in models that are not in the request, and the delete rules
    /// apply. A new model with the unique values of a saved model becomes an update of the saved model.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` if the class of a model does not belong to the store; `DecodingError`
    ///   if values of a snapshot do not have their properties' types; `ObjectGraphError` for invalid values; errors of
    ///   the store.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let context = makeContext()
        context.transactionAuthor = request.editingState.author
        var objects = try SavedObjects(context)
        for snapshot in request.inserted { try objects.insert(snapshot) }
        for snapshot in request.inserted + request.updated { try objects.apply(snapshot) }
        for snapshot in request.deleted {
            if let object = try objects.object(for: snapshot.persistentIdentifier) { context.delete(object) }
        }
        let positions = try context.saveReturningPositions()
        let permanent = objects.inserted.mapValues { PersistentIdentifier($0.managedObjectID) }
        let tokens = StoreHistory.tokens(of: positions.mapValues(\.self), coordinator)
        return DataStoreSaveChangesResult(
            for: identifier,
            remappedIdentifiers: permanent,
            historyToken: tokens.values.first
        )
    }
}

/// The objects that correspond to the snapshots of a save.
private struct SavedObjects {
    private let context: ManagedObjectContext
    /// The new objects by their temporary identifiers.
    private(set) var inserted: [PersistentIdentifier: any GraphObject] = [:]

    init(_ context: ManagedObjectContext) throws {
        self.context = context
    }

    /// Creates the object of a new model, without its values.
    mutating func insert(_ snapshot: DefaultSnapshot) throws {
        let identifier = snapshot.persistentIdentifier
        guard let entity = context.model.entitiesByName[identifier.entityName] else {
            throw SwiftDataError(.unknownSchema, "entity '\(identifier.entityName)' is not in the store's schema")
        }
        inserted[identifier] = context.insertNewObject(of: entity)
    }

    /// Returns the object with an identifier; nil if it no longer exists.
    func object(for identifier: PersistentIdentifier) throws -> (any GraphObject)? {
        try inserted[identifier] ?? context.existingObject(with: identifier)
    }

    /// Sets the values of an object to the values of its snapshot. Deleted objects stay deleted.
    func apply(_ snapshot: DefaultSnapshot) throws {
        guard let object = try object(for: snapshot.persistentIdentifier) else { return }
        for property in object.managedObjectID.entity.properties {
            switch property {
            case .attribute(let attribute):
                let value = try snapshot.value(of: attribute)
                if object._$storedValue(at: attribute.slot) != value {
                    object._$setAttribute(value, at: attribute.slot)
                }
            case .relationship(let relationship):
                guard let identifiers = try snapshot.destinations(of: relationship) else { continue }
                let destinations = try identifiers.compactMap { try self.object(for: $0) }
                    .filter { $0.managedObjectID.entity.isKind(of: relationship.destination) }
                if relationship.isToMany {
                    object.setMembers(destinations, at: relationship.slot)
                } else {
                    object.setDestination(destinations.first, at: relationship.slot)
                }
            }
        }
    }
}

extension ManagedObjectContext {
    /// Returns the object with an identifier, with its values; nil if the store has no such object.
    func existingObject(with identifier: PersistentIdentifier) throws -> (any GraphObject)? {
        guard identifier.storeIdentifier != nil, let id = identifier.managedObjectID(in: coordinator) else {
            return nil
        }
        return try existingObject(with: id)
    }
}
