/// The changes of a context, encoded as requests of its stores.
struct SavePreparation: ~Copyable {
    /// The request of each store.
    private(set) var batches: [StoreBatch] = []
    /// The parts of the batches: one for each entity with changed objects.
    private(set) var parts: [Part] = []
    /// The objects to delete.
    let deleted: [ChangedObject]

    let loader: ObjectLoader
    let mergePolicy: MergePolicy
    let identityMap: IdentityMap
    /// Versions count writes to the store: a save to a parent does not change them.
    private let versionStep: UInt32
    /// For each root entity, at its ``Entity/index``, whether objects of it are deleted; empty if no object is.
    private let hasDeletions: [Bool]
    var problems: [ObjectGraphError.ValidationProblem]
    /// How much later the versions of returned objects are in this save; nil before the first one.
    private var versionSpread: UInt32?
    /// The changed objects with ``ObjectFlags/replaced``.
    private var replaced: [ManagedObjectID] = []

    /// Encodes all changes of a context.
    ///
    /// - Parameters:
    ///   - denials: The problems of delete rules that deny a deletion.
    ///   - rejections: The problems that the objects' validation methods have reported.
    /// - Throws: ``ObjectGraphError/validation(_:)`` with all problems; ``ObjectGraphError/conflicts(_:)`` with the
    ///   objects that have other values in a file that has replaced the store's file.
    init(
        _ save: SaveOperation,
        _ denials: [ObjectGraphError.ValidationProblem],
        _ rejections: [ObjectGraphError.ValidationProblem]
    ) throws {
        loader = save.loader
        mergePolicy = save.mergePolicy
        identityMap = save.identityMap
        versionStep = save.loader.stores.parent == nil ? 1 : 0
        problems = denials
        let changes = save.changeTracker
        deleted = changes.deleted.changed
        hasDeletions = Self.deletedRoots(deleted, identityMap.model)

        // A copy of the arrays: encoding a value may run code of the program, which may change them.
        try forEachChange(in: changes.inserted.entries, .inserted) { $0.insert($1, to: $2, at: $3) }
        try forEachChange(in: changes.updated.entries, .updated) { $0.update($1, in: $2, at: $3) }
        try forEachChange(in: deleted, .deleted) { preparation, entry, part, _ in
            preparation.delete(entry.pointee.state, of: part)
        }
        if !rejections.isEmpty { problems += rejections }
        guard replaced.isEmpty else {
            throw ObjectGraphError.conflicts(replaced.map { MergeConflict(objectID: $0) })
        }
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
        for batch in batches { batch.finish() }
    }

    private static func deletedRoots(_ deleted: [ChangedObject], _ model: ManagedObjectModel) -> [Bool] {
        if deleted.isEmpty { return [] }
        var roots = Array(repeating: false, count: model.entities.count)
        // Iterated in place: retaining each object would take longer than the rest.
        deleted.withUnsafeBufferPointer { deleted in
            for position in deleted.indices {
                deleted[position].state.borrowedHandler?._withUnsafeGuaranteedRef { roots[$0.rootIndex] = true }
            }
        }
        return roots
    }

    /// The slots of an entity's to-one relationships that may lead to deleted objects.
    private func slotsToDeleted(of entity: Entity) -> [Int] {
        guard !hasDeletions.isEmpty else { return [] }
        return entity.relationships.filter { !$0.isToMany && hasDeletions[$0.destination.rootIndex] }.map(\.slot)
    }

    /// The unchanged to-one relationships of the object that lead to an object which the same save deletes. They are
    /// cleared: otherwise a member that is not deleted with its owner would refer to a missing object.
    private func slotsToClear(of state: UnsafeMutablePointer<ObjectState>, _ part: Part) -> SlotSet {
        var cleared = SlotSet()
        for slot in part.slotsToDeleted where state.pointee.changes?[slot].isUnset ?? true {
            let key = state.borrowedRow { slot < $0.slotCount ? $0.integer(at: slot) : 0 } ?? 0
            guard key > 0 else { continue }
            let destination = identityMap.model.entities[part.entity.traits[slot].destinationIndex]
            if identityMap.object(forKey: key, of: destination)?.life.isDeleted ?? false { cleared.insert(slot) }
        }
        return cleared
    }

    /// Calls `body` with the entries of a list whose objects have the kind of change, their part, and their position.
    /// Objects of one entity are mostly adjacent.
    @inline(__always)
    private mutating func forEachChange(
        in entries: [ChangedObject],
        _ kind: ChangeList.Kind,
        _ body: (inout SavePreparation, UnsafePointer<ChangedObject>, Part, Int) -> Void
    ) throws {
        try entries.withUnsafeBufferPointer { entries in
            guard let first = entries.baseAddress else { return }
            var current: Part?
            for position in entries.indices where kind.contains(first[position].life) {
                // An object without a handler is in no graph.
                guard let handler = first[position].state.borrowedHandler else { continue }
                if current?.handler.toOpaque() != handler.toOpaque() { current = try part(of: handler) }
                if let current { body(&self, first + position, current, position) }
            }
        }
    }

    /// Adds a new object.
    @inline(__always)
    private mutating func insert(_ entry: UnsafePointer<ChangedObject>, to part: Part, at position: Int) {
        let state = entry.pointee.state
        part.batch.inserted.positions.append(position)
        let key = state.borrowedChanges?._withUnsafeGuaranteedRef { $0.assignedKey } ?? 0
        let known = state.borrowedRow { $0.version }
        let version = known.map { versionOfReturned(after: $0, of: part.entity) } ?? versionStep
        encode(state, part, key: key, version: version, into: &part.batch.inserted.builder)
        if !part.toManys.isEmpty {
            collectMemberships(part.toManys, of: entry.pointee.object, into: &part.batch.request)
        }
    }

    /// The version of the row of an object that was in the store before, which other contexts must not take for an
    /// earlier row: they may have seen later versions of the deleted row than the known one.
    ///
    /// A number from the sequence of the primary keys in the file, which no other writer gets, determines how much later
    /// the version is. Multiplied, successive numbers are thousands of versions apart.
    @inline(never)
    private mutating func versionOfReturned(after known: UInt32, of entity: Entity) -> UInt32 {
        // A save to a parent continues the versions.
        guard versionStep > 0 else { return known }
        let spread = versionSpread ?? newVersionSpread(entity)
        versionSpread = spread
        return known &+ versionStep &+ 1 << 16 &+ spread
    }

    private func newVersionSpread(_ entity: Entity) -> UInt32 {
        // Without a number the save fails as well: it writes to the same file.
        let number = try? loader.stores.newIDs(of: identityMap.model.root(of: entity), count: 1).first?.key
        return (UInt32(truncatingIfNeeded: number ?? 0) &* 0x9E37_79B1) >> 12
    }

    /// Adds a changed object.
    @inline(__always)
    private mutating func update(_ entry: UnsafePointer<ChangedObject>, in part: Part, at position: Int) {
        let state = entry.pointee.state
        if state.pointee.flags.contains(.replaced) { return reject(state, part.entity) }
        let batch = part.batch
        if !part.toManys.isEmpty { collectMemberships(part.toManys, of: entry.pointee.object, into: &batch.request) }
        let cleared = part.slotsToDeleted.isEmpty ? SlotSet() : slotsToClear(of: state, part)
        guard let slots = changedSlots(of: state, cleared) else {
            batch.related.append(entry.pointee)
            return
        }
        let previous = state.borrowedRow { $0.version } ?? 0
        batch.updated.positions.append(position)
        batch.request.updates.append(.init(previousVersion: previous, slots: slots))
        encode(
            state,
            part,
            key: state.pointee.key,
            version: previous &+ versionStep,
            clearing: cleared,
            into: &batch.updated.builder
        )
    }

    /// Adds a deleted object.
    @inline(__always)
    private mutating func delete(_ state: UnsafeMutablePointer<ObjectState>, of part: Part) {
        if state.pointee.flags.contains(.replaced) { return reject(state, part.entity) }
        let row = state.pointee.row ?? state.pointee.changes?.cachedRow?.row
        part.batch.request.deleted.append(.init(entity: part.entity, key: state.pointee.key, row: row))
        if !part.toManys.isEmpty { collectDepartures(of: state, part.entity, into: &part.batch.request) }
    }

    @inline(never)
    private mutating func reject(_ state: UnsafeMutablePointer<ObjectState>, _ entity: Entity) {
        replaced.append(identityMap.id(entity: entity, key: state.pointee.key))
    }

    // MARK: Batches

    /// The part for the objects with a handler.
    private mutating func part(of handler: Unmanaged<FaultHandler>) throws -> Part {
        if let known = parts.first(where: { $0.handler.toOpaque() == handler.toOpaque() }) { return known }
        let entity = handler._withUnsafeGuaranteedRef { $0.entity }
        let store = loader.stores.parent == nil ? try loader.stores.store(of: entity) : nil
        let batch: StoreBatch
        if let known = batches.first(where: { $0.store === store }) {
            batch = known
        } else {
            batch = StoreBatch(store: store, entity: entity)
            batches.append(batch)
        }
        if entity.hasToMany { batch.hasToMany = true }
        let part = Part(handler, entity, batch, slotsToDeleted: slotsToDeleted(of: entity))
        parts.append(part)
        return part
    }
}
