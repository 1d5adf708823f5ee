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
    private let identityMap: IdentityMap
    /// Versions count writes to the store: a save to a parent does not change them.
    private let versionStep: UInt32
    /// For each root entity, at its ``Entity/index``, whether objects of it are deleted; empty if no object is.
    private let hasDeletions: [Bool]
    private var problems: [ObjectGraphError.ValidationProblem]
    /// The changed objects with ``ObjectFlags/replaced``.
    private var replaced: [ManagedObjectID] = []

    /// Encodes all changes of a context.
    ///
    /// - Parameters:
    ///   - denials: The problems of delete rules that deny a deletion.
    ///   - rejections: The problems that the objects' validation methods have reported.
    /// - Throws: ``ObjectGraphError/validation(_:)`` with all problems; ``ObjectGraphError/conflicts(_:)`` with the
    ///   objects that have other values in a file that has replaced the store's.
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
        // In place: retaining each object would take longer than the rest.
        deleted.withUnsafeBufferPointer { deleted in
            for position in deleted.indices {
                deleted[position].state.borrowedHandler?._withUnsafeGuaranteedRef { roots[$0.rootIndex] = true }
            }
        }
        return roots
    }

    /// The part of a batch to which objects of one entity are added.
    final class Part {
        fileprivate let handler: Unmanaged<FaultHandler>
        let entity: Entity
        // Read once for all objects of the entity.
        fileprivate let entityIndex: Int
        fileprivate let traits: [SlotTraits]
        fileprivate let hasComposites: Bool
        fileprivate let toManys: [ToMany]
        let batch: StoreBatch
        /// The slots of to-one relationships that may lead to deleted objects.
        fileprivate let slotsToDeleted: [Int]

        fileprivate init(
            _ handler: Unmanaged<FaultHandler>,
            _ entity: Entity,
            _ batch: StoreBatch,
            slotsToDeleted: [Int]
        ) {
            self.handler = handler
            self.entity = entity
            entityIndex = entity.index
            traits = entity.traits
            hasComposites = entity.hasComposites
            toManys = entity.hasToMany ? entity.relationships.filter(\.isToMany).map(ToMany.init) : []
            self.batch = batch
            self.slotsToDeleted = slotsToDeleted
        }
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
        // An object that was in the store before continues its versions, so that other contexts detect the change. Its
        // deleted row may have had later versions than the known one, which the new row must not repeat.
        let known = state.borrowedRow { $0.version }
        let jump = known == nil || versionStep == 0 ? 0 : UInt32.random(in: 1 << 16..<1 << 20)
        let version = (known ?? 0) &+ versionStep &+ jump
        encode(state, part, key: key, version: version, into: &part.batch.inserted.builder)
        if !part.toManys.isEmpty {
            collectMemberships(part.toManys, of: entry.pointee.object, into: &part.batch.request)
        }
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

    /// The changes of one store's objects.
    final class StoreBatch {
        let store: BackingStore
        /// One of the store's entities.
        let entity: Entity
        /// Whether objects of the store have to-many relationships.
        fileprivate(set) var hasToMany = false
        // No access calls the program: dynamic exclusivity checks would only cost time.
        @exclusivity(unchecked) fileprivate(set) var inserted = ChangedRows()
        @exclusivity(unchecked) fileprivate(set) var updated = ChangedRows()
        /// Changed objects without changes in their own rows: other rows contain their changed relationships.
        @exclusivity(unchecked) fileprivate(set) var related: [ChangedObject] = []
        @exclusivity(unchecked) fileprivate(set) var request = SaveChangesRequest()

        init(store: BackingStore, entity: Entity) {
            self.store = store
            self.entity = entity
        }

        /// Returns the request, which the batch then no longer has.
        func takeRequest() -> SaveChangesRequest {
            var taken = SaveChangesRequest()
            swap(&taken, &request)
            return taken
        }

        fileprivate func finish() {
            request.inserted = inserted.finish()
            request.updated = updated.finish()
            if request.memberships.isEmpty { return }
            let changes = request.memberships
            request.memberships = changes.filter(\.changesPairs) + changes.filter { !$0.changesPairs }
        }
    }

    /// The rows of the saved objects of a list.
    struct ChangedRows: ~Copyable {
        /// The positions of the objects in their list.
        fileprivate(set) var positions = Positions()
        fileprivate var builder = RowBatchBuilder()
        private var rows = RowBatch()

        fileprivate mutating func finish() -> RowBatch {
            if positions.count == 0 { return rows }
            var complete = RowBatchBuilder()
            swap(&complete, &builder)
            rows = complete.finish()
            return rows
        }

        /// The number of rows.
        var count: Int { positions.count }

        /// Calls `body` with the position of each object in its list, and its row.
        func forEachRow(_ body: (Int, Row) -> Void) {
            var number = 0
            for chunk in rows.chunks {
                for index in 0..<chunk.rowCount {
                    body(positions[number], chunk.row(at: index))
                    number += 1
                }
            }
        }
    }

    /// Ascending positions in a list. As long as they are those of the first elements, only their number is stored.
    struct Positions {
        private(set) var count = 0
        private var stored: [Int] = []

        fileprivate mutating func append(_ position: Int) {
            if !stored.isEmpty || position != count {
                if stored.isEmpty { stored = Array(0..<count) }
                stored.append(position)
            }
            count += 1
        }

        subscript(number: Int) -> Int { stored.isEmpty ? number : stored[number] }
    }

    /// The part for the objects with a handler.
    private mutating func part(of handler: Unmanaged<FaultHandler>) throws -> Part {
        if let known = parts.first(where: { $0.handler.toOpaque() == handler.toOpaque() }) { return known }
        let entity = handler._withUnsafeGuaranteedRef { $0.entity }
        let store = try loader.stores.store(for: entity)
        let batch: StoreBatch
        if let known = batches.first(where: { $0.store.isSame(as: store) }) {
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

    // MARK: Rows

    /// The slots of attributes and to-one relationships whose values differ from the row's; nil if none differs.
    ///
    /// - Parameter cleared: Slots that the save clears.
    private func changedSlots(of state: UnsafeMutablePointer<ObjectState>, _ cleared: SlotSet) -> SlotSet? {
        let changed = state.borrowedChanges?._withUnsafeGuaranteedRef { changes in
            var changed = cleared
            let slots = changes.slots
            for slot in 0..<changes.slotCount {
                switch slots[slot] {
                case .unset, .members, .pending: continue
                case .composite: changed.insert(slot)
                case .value(let value):
                    if state.borrowedRow({ $0.holds(value, at: slot) }) ?? false { continue }
                    changed.insert(slot)
                }
            }
            return changed
        }
        let all = changed ?? cleared
        return all.isEmpty ? nil : all
    }

    /// Writes the row of a saved object.
    ///
    /// - Parameter cleared: Slots whose values in the row are dropped.
    private mutating func encode(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ part: Part,
        key: Int64,
        version: UInt32,
        clearing cleared: SlotSet = SlotSet(),
        into rows: inout RowBatchBuilder
    ) {
        // Encoding a value may run code of the program, which may replace the object's row and changes.
        let held = part.hasComposites ? (state.pointee.row, state.pointee.changes) : (nil, nil)
        rows.begin(key: key, version: version, entity: part.entityIndex, slotCount: part.traits.count)
        if let chunk = state.borrowedChunk {
            chunk._withUnsafeGuaranteedRef { chunk in
                let row = Row(chunk: chunk, offset: state.pointee.rowOffset)
                encodeSlots(state, part, into: &rows) { slot, rows in
                    guard slot < row.slotCount, !row.isNull(at: slot), !cleared.contains(slot) else { return false }
                    rows.copy(slot, of: row)
                    return true
                }
            }
        } else {
            encodeSlots(state, part, into: &rows) { _, _ in false }
        }
        withExtendedLifetime(held) {}
        if let slot = rows.takeOverlongSlot() { report(state, slot, .rowTooLong) }
    }

    /// Writes the values of an object's slots.
    ///
    /// - Parameter copy: Copies the value of a slot from the object's row, or returns false if the object has no row.
    @inline(__always)
    private mutating func encodeSlots(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ part: Part,
        into rows: inout RowBatchBuilder,
        _ copy: (Int, inout RowBatchBuilder) -> Bool
    ) {
        let slots = state.borrowedChanges?._withUnsafeGuaranteedRef { $0.slots }
        let traits = part.traits
        for slot in 0..<traits.count {
            if let integer = slots?[slot].integer, traits[slot].destinationIndex < 0, !traits[slot].isValidated {
                rows.set(integer: integer, at: slot)
                continue
            }
            switch slots?[slot] ?? .unset {
            case .value(let value):
                encode(value, at: slot, traits[slot], state, part.entity, into: &rows)
            case .composite(let value):
                do {
                    var text = try value.encodedText()
                    text.withUTF8 { rows.set(text: UnsafeRawBufferPointer($0), at: slot) }
                } catch {
                    report(state, slot, .notEncodable)
                }
            case .unset, .members, .pending:
                if copy(slot, &rows) { continue }
                if state.pointee.flags.contains(.hasUnreadValues) || !traits[slot].isOptional {
                    reportUnset(state, slot, traits[slot], part.entity)
                }
            }
        }
    }

    @inline(never)
    private mutating func reportUnset(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ slot: Int,
        _ traits: SlotTraits,
        _ entity: Entity
    ) {
        if state.pointee.flags.contains(.hasUnreadValues), case .attribute = entity.properties[slot] {
            report(state, slot, .unread)
        } else if !traits.isOptional {
            report(state, slot, .missingValue)
        }
    }

    @inline(__always)
    private mutating func encode(
        _ value: Value,
        at slot: Int,
        _ traits: SlotTraits,
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity,
        into rows: inout RowBatchBuilder
    ) {
        switch value {
        case .null:
            if !traits.isOptional { report(state, slot, .missingValue) }
        case .integer(let key) where traits.destinationIndex >= 0:
            let destination = identityMap.model.entities[traits.destinationIndex]
            let permanent = identityMap.permanentKey(for: key, of: destination)
            if permanent != 0 {
                rows.set(integer: permanent, at: slot)
            } else if isLost(key, of: destination), !traits.isOptional || mergePolicy == .error {
                report(state, slot, .missingDestination)
            } else if !traits.isOptional {
                report(state, slot, .missingValue)
            }
        case .real(let real) where real.isNaN:
            // SQLite stores NaN as NULL.
            report(state, slot, .notRepresentable)
        default:
            if traits.isValidated { validate(value, at: slot, state, entity) }
            rows.set(value, at: slot)
        }
    }

    @inline(never)
    private mutating func validate(
        _ value: Value,
        at slot: Int,
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity
    ) {
        if case .attribute(let attribute) = entity.properties[slot],
            let problem = attribute.description.validation.problem(of: value)
        {
            report(state, slot, problem)
        }
    }

    /// Whether the context knows that another context or process has deleted the object with a key. The reference is
    /// then not passed to the store.
    func isLost(_ key: Int64, of entity: Entity) -> Bool {
        guard key > 0, loader.stores.parent == nil, let object = identityMap.object(forKey: key, of: entity) else {
            return false
        }
        return object.life.isLost
    }

    mutating func report(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ slot: Int,
        _ reason: ObjectGraphError.ValidationProblem.Reason
    ) {
        guard let handler = state.pointee.handler else { return }
        let key = state.pointee.key
        let id = ManagedObjectID(entity: handler.entity, storeUUID: key > 0 ? handler.storeUUID : nil, key: key)
        problems.append(.init(id: id, property: handler.entity.properties[slot].name, reason: reason))
    }
}
