import Foundation

/// Reads objects of a context from its stores: fetched rows become objects, faults are filled, the members of
/// relationships are loaded, and known objects are reloaded.
///
/// A property cannot throw: a failed read on behalf of a property is recorded in ``readFailures``, which the context's
/// next fetch or save throws.
final class ObjectLoader {
    let identityMap: IdentityMap
    let stores: StoreRouter
    let readFailures: ReadFailures
    /// See ``ManagedObjectContext/stalenessInterval``.
    var stalenessInterval: TimeInterval = -1
    /// Receives the changed objects whose rows are read in a later version, while members are read; nil otherwise.
    @exclusivity(unchecked) var laterRows: [(object: any GraphObject, row: Row)]?
    /// The missing objects that rows have made present again, until ``unloadMembersOfSources()`` is called.
    @exclusivity(unchecked) var returnedObjects: [any GraphObject] = []

    /// The keys that are not read together with other keys.
    var unreadable = UnreadableKeys()

    init(_ identityMap: IdentityMap, _ stores: StoreRouter, _ readFailures: ReadFailures) {
        self.identityMap = identityMap
        self.stores = stores
        self.readFailures = readFailures
    }

    // MARK: Objects by identifier

    /// The object with an identifier: the registered object, or a fault. The store is read only if entities inherit,
    /// since the class of the object depends on its row. For an identifier without an object in the context's stores
    /// the result is a missing object, also if an object of another class has the key: an identifier from before a
    /// migration names the class that had the key then.
    ///
    /// - Precondition: The model has the identifier's entity.
    func object(with id: ManagedObjectID) -> any GraphObject {
        guard let entity = identityMap.model.entitiesByName[id.entity.name] else {
            preconditionFailure("the context's model has no entity '\(id.entity.name)'")
        }
        let handler = identityMap.handlers[entity.index]
        // Reserved first, since a sweep may release a new object that was deleted.
        handler.table.reserve(1)
        guard identityMap.entity(of: id) != nil, id.key > 0 || handler.table.contains(id.key) else {
            return handler.makeMissingObject(key: id.key)
        }
        if let object = identityMap.object(forKey: id.key, of: entity) {
            return object.entity.isKind(of: entity) ? object : handler.makeMissingObject(key: id.key)
        }
        if !entity.isRoot || !entity.subentities.isEmpty {
            // A fault whose class differs from the class of the row must never be registered.
            let found = reading(entity, key: id.key) { try existingObject(with: id) }
            return (found ?? nil) ?? handler.makeMissingObject(key: id.key)
        }
        let object = handler.makeObject(ObjectState(handler: handler, key: id.key))
        handler.table.insert(object, forKey: id.key, entity: entity.index)
        return object
    }

    /// The object of an entity with a key, as ``object(with:)``.
    func object(of entity: Entity, key: Int64) -> any GraphObject {
        object(with: identityMap.id(entity: entity, key: key))
    }

    /// The registered object with an identifier; nil if no such object is registered, or it is missing. Does not read
    /// from the store.
    func registeredObject(for id: ManagedObjectID) -> (any GraphObject)? {
        guard let entity = identityMap.entity(of: id), let object = identityMap.object(forKey: id.key, of: entity),
            object.entity.isKind(of: entity)
        else { return nil }
        return object.life.isMissing ? nil : object
    }

    /// The object with an identifier, filled; nil if the store has no such object.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if a registered object cannot be filled; errors of the store.
    func existingObject(with id: ManagedObjectID) throws -> (any GraphObject)? {
        if let object = registeredObject(for: id) {
            if object.state.pointee.chunk == nil, object.life.canBeFilled {
                object.fireFault()
                guard object.state.pointee.chunk != nil || object.life.isMissing else {
                    throw ObjectGraphError.unreadable(readFailures.values)
                }
            }
            return object.life.isMissing ? nil : object
        }
        guard id.key > 0, let entity = identityMap.entity(of: id) else { return nil }
        let rows = try stores.rows(of: entity, with: [identityMap.id(entity: entity, key: id.key)])
        return materialize(rows).first { $0.entity.isKind(of: entity) }
    }

    // MARK: Objects by key

    /// The objects with the given keys, in their order. Objects that are not registered are fetched with one request.
    /// Deleted and missing objects are omitted.
    func objects(with keys: some Sequence<Int64>, of entity: Entity) -> [any GraphObject] {
        var objects: [any GraphObject] = []
        objects.reserveCapacity(keys.underestimatedCount)
        forEachObject(with: keys, of: entity) { handler, object in
            objects.append(handler.graphObject(object.takeUnretainedValue()))
        }
        return objects
    }

    /// Calls `body` with each of these objects and its handler, which costs less than creating an array of the objects.
    @inline(__always)
    func forEachObject(
        with keys: some Sequence<Int64>,
        of entity: Entity,
        _ body: (FaultHandler, Unmanaged<AnyObject>) -> Void
    ) {
        let identityMap = identityMap
        let table = identityMap.handlers[entity.index].table
        var missing: [Int64] = []
        for key in keys where key > 0 && !table.contains(key) { missing.append(key) }
        // Registered objects must outlive the sweep that registering the missing objects may cause.
        let present = missing.isEmpty ? [] : keys.compactMap { table.object(forKey: $0)?.object }
        let fetched = fetchObjects(with: missing, of: entity)
        var knownKind = entity.index
        for key in keys {
            guard let found = table.borrowedObject(forKey: key) else { continue }
            if found.entity != knownKind {
                // In a damaged store the key may belong to an object of another entity.
                guard identityMap.model.entities[found.entity].isKind(of: entity) else { continue }
                knownKind = found.entity
            }
            identityMap.handlers.borrowed(at: found.entity)._withUnsafeGuaranteedRef { handler in
                if !handler.state(of: found.object).pointee.life.isDeletedOrMissing { body(handler, found.object) }
            }
        }
        withExtendedLifetime((present, fetched)) {}
    }

    /// The objects with keys that are not registered yet, without objects that the store does not have.
    private func fetchObjects(with keys: [Int64], of entity: Entity) -> [AnyObject] {
        guard let first = keys.first else { return [] }
        guard let parts = reading(entity, key: first, { try rows(of: entity, withKeys: keys) }) else { return [] }
        for (key, error) in parts.failures {
            readFailures.add(.init(entityIndex: entity.index, key: key, slot: nil, cause: error))
        }
        return parts.results.flatMap(materializeReferences)
    }

    /// The row of an object that is not registered, read for the property in a slot; nil if the store has no such
    /// object or cannot be read.
    func row(of entity: Entity, key: Int64, for slot: Int) -> Row? {
        let row = reading(entity, key: key, slot: slot) {
            try stores.row(of: entity, with: identityMap.id(entity: entity, key: key))
        }
        return row ?? nil
    }

    /// The rows of the objects that match a request, in its order. A value that cannot be read later is reported to
    /// this context.
    func rows(for request: FetchRequest) throws -> RowBatch {
        // A fetch of the context has set the record already, so that its request needs no copy.
        guard request.readFailures !== readFailures else { return try stores.rows(for: request) }
        var ownRequest = request
        ownRequest.readFailures = readFailures
        return try stores.rows(for: ownRequest)
    }

    // MARK: Failures

    /// Reads for a property of an object, and records a failure.
    ///
    /// - Parameters:
    ///   - object: The object whose property is read.
    ///   - relationship: The property if it is a relationship; nil for any other property.
    func reading<R>(
        for object: any GraphObject,
        _ relationship: Relationship? = nil,
        _ body: () throws -> R
    ) -> R? {
        reading(object.entity, key: object.state.pointee.key, slot: relationship?.slot, body)
    }

    /// Reads for a property of the object of an entity with a key, and records a failure.
    func reading<R>(_ entity: Entity, key: Int64, slot: Int? = nil, _ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch {
            readFailures.add(.init(entityIndex: entity.index, key: key, slot: slot, cause: error))
            return nil
        }
    }
}

extension FaultHandler {
    /// Creates an object that is not registered and counts as deleted.
    fileprivate func makeMissingObject(key: Int64) -> any GraphObject {
        var state = ObjectState(handler: self, key: key)
        state.life.markMissing()
        return makeObject(state)
    }
}
