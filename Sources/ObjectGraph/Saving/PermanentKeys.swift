/// Assigns permanent keys to the new objects of a context: during their save, or before it.
final class PermanentKeys {
    private let changeTracker: ChangeTracker
    private let stores: StoreRouter
    private var identityMap: IdentityMap { changeTracker.identityMap }
    /// The number of insertions when all inserted objects were last registered under permanent keys.
    private var registeredInsertions = 0
    /// A list for the keys of each root entity, at its ``Entity/index``, for the next save: most saves insert few
    /// objects. It is only swapped, which calls no other code: dynamic exclusivity checks would only cost time.
    @exclusivity(unchecked) private var unused: [WantedKeys] = []

    init(_ changeTracker: ChangeTracker, _ stores: StoreRouter) {
        self.changeTracker = changeTracker
        self.stores = stores
    }

    // MARK: Assigning

    /// Requests permanent keys for all new objects from the stores. The objects keep them, even if the save fails.
    ///
    /// - Throws: errors of the stores.
    func assign() throws {
        if changeTracker.inserted.count == 0 { return }
        let entities = identityMap.model.entities
        // Taken, since a program's own store may request keys while it is called.
        var wanted: [WantedKeys] = []
        swap(&wanted, &unused)
        if wanted.isEmpty { wanted = Array(repeating: WantedKeys(), count: entities.count) }
        // Runs after an error of a store, too.
        defer {
            for rootIndex in wanted.indices where wanted[rootIndex].count > 0 { wanted[rootIndex] = WantedKeys() }
            swap(&wanted, &unused)
        }
        forEachKeyless { rootIndex, _ in wanted[rootIndex].count += 1 }
        for rootIndex in wanted.indices where wanted[rootIndex].count > 0 {
            wanted[rootIndex].ids = try stores.newIDs(of: entities[rootIndex], count: wanted[rootIndex].count)
        }
        forEachKeyless { rootIndex, changes in
            if let key = wanted[rootIndex].next() { changes.assignedKey = key }
        }
    }

    /// The keys that the new objects of a root entity need.
    private struct WantedKeys {
        var count = 0
        var ids: [ManagedObjectID] = []
        private var position = 0

        /// Takes the next key; nil if the store has given too few.
        mutating func next() -> Int64? {
            guard position < ids.count else { return nil }
            defer { position += 1 }
            return ids[position].key
        }
    }

    /// Calls `body` with the positions of the root entities and the changes of the new objects without permanent keys.
    private func forEachKeyless(_ body: (Int, ObjectChanges) -> Void) {
        changeTracker.inserted.withEntries { entries in
            for position in entries.indices {
                let state = entries[position].state
                guard state.pointee.life.isInserted, let handler = state.borrowedHandler else { continue }
                let rootIndex = handler._withUnsafeGuaranteedRef { $0.rootIndex }
                state.borrowedChanges?._withUnsafeGuaranteedRef { changes in
                    if changes.assignedKey == 0 { body(rootIndex, changes) }
                }
            }
        }
    }

    // MARK: Before the save

    /// Registers new objects under their permanent keys before their save. The other new objects are assigned keys, and
    /// keep their temporary identifiers.
    ///
    /// - Throws: errors of the stores.
    func obtain(for objects: some Sequence<any GraphObject>) throws {
        let new = objects.filter { $0.state.pointee.key < 0 && $0.state.pointee.life.isInserted }
        guard !new.isEmpty else { return }
        try assign()
        var permanentKeys: [Int64: Int64] = [:]
        for object in new {
            guard object.assignedKey > 0 else { continue }
            permanentKeys[object.state.pointee.key] = object.assignedKey
            identityMap.register(object, underPermanentKey: object.assignedKey)
        }
        // Only changed objects can refer to new objects.
        for entry in changeTracker.changedEntries { entry.object.replaceKeys(permanentKeys) }
    }

    /// Registers all new objects under their permanent keys. Returns at once if no object was inserted since the last
    /// call.
    ///
    /// - Throws: errors of the stores.
    func obtainForAll() throws {
        guard changeTracker.inserted.additions != registeredInsertions else { return }
        try obtain(for: changeTracker.inserted.objects)
        registeredInsertions = changeTracker.inserted.additions
    }

    /// The current identifier of an object, for an identifier that may contain an earlier, temporary key. A new object
    /// of the parent context has its permanent key in this context.
    func current(_ id: ManagedObjectID) -> ManagedObjectID {
        if id.key < 0, let parent = stores.parent, identityMap.handlers.indices.contains(id.entity.index),
            !identityMap.handlers[id.entity.index].table.contains(id.key)
        {
            try? parent.permanentKeys.obtainForAll()
        }
        return identityMap.current(id)
    }
}

extension GraphObject {
    /// Replaces keys of the destinations of the object's relationships.
    fileprivate func replaceKeys(_ newKeys: [Int64: Int64]) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships {
            switch changes[relationship.slot] {
            case .value(.integer(let key)):
                if let new = newKeys[key] { changes[relationship.slot] = .value(.integer(new)) }
            case .members(let members): members.replaceKeys(newKeys)
            case .value, .unset, .composite, .pending: break
            }
        }
    }
}
