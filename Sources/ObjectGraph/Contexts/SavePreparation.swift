/// The changes of a context in the form in which its stores take them.
struct SavePreparation {
    /// What each store has to do.
    private(set) var batches: [StoreBatch] = []
    /// The objects to delete.
    let deleted: [ChangedObject]

    private let context: ManagedObjectContext
    /// Versions count what was written to the store: a save to a parent leaves them as they are.
    private let versionStep: UInt32
    /// The batch of each entity, at its ``Entity/index``.
    private var batchesByEntity: [StoreBatch?]
    private var problems: [ObjectGraphError.ValidationProblem]

    /// Encodes all changes of a context.
    ///
    /// - Parameter rejections: What objects have against being saved.
    /// - Throws: ``ObjectGraphError/validation(_:)`` with every problem there is.
    init(_ context: ManagedObjectContext, _ rejections: [ObjectGraphError.ValidationProblem]) throws {
        self.context = context
        versionStep = context.parent == nil ? 1 : 0
        problems = context.deniedDeletions()
        deleted = context.deleted.changed
        batchesByEntity = Array(repeating: nil, count: context.model.entities.count)

        // Of the arrays as they are now: to encode a value may run code of the program, which may change others.
        try forEachChange(in: context.inserted.entries, marked: .inserted) { $0.insert($1, to: $2, at: $3) }
        try forEachChange(in: context.updated.entries, marked: .updated) { $0.update($1, in: $2, at: $3) }
        try forEachChange(in: deleted, marked: .deleted) { preparation, entry, part, _ in
            preparation.delete(entry.pointee.state, of: part)
        }
        problems += rejections
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
        for batch in batches { batch.finish() }
    }

    /// What objects of one entity are added to.
    private final class Part {
        let handler: Unmanaged<FaultHandler>
        let entity: Entity
        let batch: StoreBatch

        init(_ handler: Unmanaged<FaultHandler>, _ entity: Entity, _ batch: StoreBatch) {
            self.handler = handler
            self.entity = entity
            self.batch = batch
        }
    }

    /// Calls `body` with the objects that have all of some flags, what each is added to, and its position. Many objects of one entity
    /// follow each other.
    @inline(__always)
    private mutating func forEachChange(
        in entries: [ChangedObject],
        marked mark: ObjectFlags,
        _ body: (inout SavePreparation, UnsafePointer<ChangedObject>, Part, Int) -> Void
    ) throws {
        try entries.withUnsafeBufferPointer { entries in
            guard let first = entries.baseAddress else { return }
            var current: Part?
            for position in entries.indices where first[position].state.pointee.flags.contains(mark) {
                // One without is in no graph.
                guard let handler = first[position].state.borrowedHandler else { continue }
                if current?.handler.toOpaque() != handler.toOpaque() {
                    let entity = handler._withUnsafeGuaranteedRef { $0.entity }
                    current = Part(handler, entity, try batch(for: entity))
                }
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
        // One that was in the store before goes on with its versions, so that everybody notices.
        let version = (state.borrowedRow { $0.version } ?? 0) &+ versionStep
        encode(state, part.entity, key: key, version: version, into: &part.batch.inserted.builder)
        if part.entity.hasToMany { collectMemberships(of: entry.pointee.object, into: &part.batch.request) }
    }

    /// Adds a changed object.
    @inline(__always)
    private mutating func update(_ entry: UnsafePointer<ChangedObject>, in part: Part, at position: Int) {
        let state = entry.pointee.state
        let batch = part.batch
        if part.entity.hasToMany { collectMemberships(of: entry.pointee.object, into: &batch.request) }
        guard let slots = changedSlots(of: state) else {
            batch.related.append(entry.pointee)
            return
        }
        let previous = state.borrowedRow { $0.version } ?? 0
        batch.updated.positions.append(position)
        batch.request.updates.append(.init(previousVersion: previous, slots: slots))
        encode(
            state,
            part.entity,
            key: state.pointee.key,
            version: previous &+ versionStep,
            into: &batch.updated.builder
        )
    }

    /// Adds a deleted object.
    @inline(__always)
    private func delete(_ state: UnsafeMutablePointer<ObjectState>, of part: Part) {
        let row = state.pointee.row ?? state.pointee.changes?.cachedRow?.row
        part.batch.request.deleted.append(.init(entity: part.entity, key: state.pointee.key, row: row))
    }

    // MARK: Batches

    /// What one store is to do.
    final class StoreBatch {
        let store: BackingStore
        /// Whether objects of the store have to-many relationships.
        fileprivate(set) var hasToMany = false
        // What is done to them calls nothing that comes back here: checks for overlaps would only cost time.
        @exclusivity(unchecked) fileprivate(set) var inserted = ChangedRows()
        @exclusivity(unchecked) fileprivate(set) var updated = ChangedRows()
        /// Changed objects of which only relationships changed that other rows tell.
        fileprivate(set) var related: [ChangedObject] = []
        @exclusivity(unchecked) fileprivate(set) var request = SaveChangesRequest()

        init(store: BackingStore) {
            self.store = store
        }

        fileprivate func finish() {
            request.inserted = inserted.finish()
            request.updated = updated.finish()
            let changes = request.memberships
            request.memberships = changes.filter(\.changesPairs) + changes.filter { !$0.changesPairs }
        }
    }

    /// The rows that objects of a list are saved as.
    struct ChangedRows: ~Copyable {
        /// The positions of the objects in their list.
        fileprivate(set) var positions: [Int] = []
        fileprivate var builder = RowBatchBuilder()
        private var rows = RowBatch()

        fileprivate mutating func finish() -> RowBatch {
            var complete = RowBatchBuilder()
            swap(&complete, &builder)
            rows = complete.finish()
            return rows
        }

        /// The number of rows.
        var count: Int { positions.count }

        /// Calls `body` with the position of each object in its list, and its row.
        func forEachRow(_ body: (Int, Row) -> Void) {
            var position = positions.makeIterator()
            for chunk in rows.chunks {
                for index in 0..<chunk.rowCount {
                    guard let position = position.next() else { return }
                    body(position, chunk.row(at: index))
                }
            }
        }
    }

    private mutating func batch(for entity: Entity) throws -> StoreBatch {
        if let batch = batchesByEntity[entity.index] { return batch }
        let store = try context.store(for: entity)
        let batch: StoreBatch
        if let known = batches.first(where: { $0.store.isSame(as: store) }) {
            batch = known
        } else {
            batch = StoreBatch(store: store)
            batches.append(batch)
        }
        if entity.hasToMany { batch.hasToMany = true }
        batchesByEntity[entity.index] = batch
        return batch
    }

    // MARK: Rows

    /// The slots of attributes and to-one relationships whose values differ from the row's, or nil where none does.
    private func changedSlots(of state: UnsafeMutablePointer<ObjectState>) -> SlotSet? {
        state.borrowedChanges?._withUnsafeGuaranteedRef { changes in
            var changed = SlotSet()
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
            return changed.isEmpty ? nil : changed
        }
    }

    /// Writes the row that an object is saved as.
    private mutating func encode(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity,
        key: Int64,
        version: UInt32,
        into rows: inout RowBatchBuilder
    ) {
        // A value that is encoded may run code of the program, which may give the object another row and other changes.
        let held = entity.hasComposites ? (state.pointee.row, state.pointee.changes) : (nil, nil)
        rows.begin(key: key, version: version, entity: entity.index, slotCount: entity.traits.count)
        if let chunk = state.borrowedChunk {
            chunk._withUnsafeGuaranteedRef { chunk in
                let row = Row(chunk: chunk, offset: state.pointee.rowOffset)
                encodeSlots(state, entity, into: &rows) { slot, rows in
                    guard slot < row.slotCount, !row.isNull(at: slot) else { return false }
                    rows.copy(slot, of: row)
                    return true
                }
            }
        } else {
            encodeSlots(state, entity, into: &rows) { _, _ in false }
        }
        withExtendedLifetime(held) {}
        if let slot = rows.takeOverlongSlot() { report(state, slot, .tooLong) }
    }

    /// Writes the values of an object's slots.
    ///
    /// - Parameter copy: Copies the value that the object's row has in a slot, or returns false where it has none.
    @inline(__always)
    private mutating func encodeSlots(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ entity: Entity,
        into rows: inout RowBatchBuilder,
        _ copy: (Int, inout RowBatchBuilder) -> Bool
    ) {
        let slots = state.borrowedChanges?._withUnsafeGuaranteedRef { $0.slots }
        let traits = entity.traits
        for slot in 0..<traits.count {
            switch slots?[slot] ?? .unset {
            case .value(let value):
                encode(value, at: slot, traits[slot], state, entity, into: &rows)
            case .composite(let value):
                do {
                    var text = try value.encodedText()
                    text.withUTF8 { rows.set(text: UnsafeRawBufferPointer($0), at: slot) }
                } catch {
                    report(state, slot, .notEncodable)
                }
            case .unset, .members, .pending:
                if copy(slot, &rows) { continue }
                if state.pointee.flags.contains(.hasUnreadValues), case .attribute = entity.properties[slot] {
                    report(state, slot, .unread)
                } else if !traits[slot].isOptional {
                    report(state, slot, .missingValue)
                }
            }
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
            let destination = context.model.entities[traits.destinationIndex]
            let permanent = context.permanentKey(for: key, of: destination)
            if permanent != 0 {
                rows.set(integer: permanent, at: slot)
            } else if !traits.isOptional {
                report(state, slot, .missingValue)
            }
        case .real(let real) where real.isNaN:
            // SQLite keeps NaN as NULL.
            report(state, slot, .notRepresentable)
        default:
            if traits.isValidated, case .attribute(let attribute) = entity.properties[slot],
                let problem = attribute.description.validation.problem(of: value)
            {
                report(state, slot, problem)
            }
            rows.set(value, at: slot)
        }
    }

    private mutating func report(
        _ state: UnsafeMutablePointer<ObjectState>,
        _ slot: Int,
        _ reason: ObjectGraphError.ValidationProblem.Reason
    ) {
        guard let handler = state.pointee.handler else { return }
        let key = state.pointee.key
        let id = ManagedObjectID(entity: handler.entity, storeUUID: key > 0 ? handler.storeUUID : nil, key: key)
        problems.append(.init(id: id, property: handler.entity.properties[slot].name, reason: reason))
    }

    // MARK: Memberships

    /// Collects what changed in to-many relationships and is not told by other objects' rows.
    private mutating func collectMemberships(of object: any GraphObject, into request: inout SaveChangesRequest) {
        guard let changes = object.state.pointee.changes else { return }
        for relationship in object.entity.relationships where relationship.isToMany {
            let members = changes.members(at: relationship.slot)
            if members?.isChanged ?? false || object.isInserted { checkCount(relationship, object) }
            guard let members, members.isChanged else { continue }
            let isJoined = relationship.placement == .joinTable(isCanonical: true)
            guard isJoined || relationship.isOrdered else { continue }
            let change = SaveChangesRequest.MembershipChange(
                relationship: relationship,
                owner: permanentKey(of: object),
                added: isJoined ? permanentKeys(members.added.subtracting(members.removed), relationship).sorted() : [],
                removed: isJoined ? members.removed.subtracting(members.added).filter { $0 > 0 }.sorted() : [],
                order: relationship.isOrdered
                    ? permanentKeys(orderedKeys(members, of: relationship, object), relationship) : nil
            )
            if change.added.isEmpty, change.removed.isEmpty, change.order == nil { continue }
            request.memberships.append(change)
        }
    }

    /// The keys of those members that will be in the store.
    private func permanentKeys(_ keys: some Sequence<Int64>, _ relationship: Relationship) -> [Int64] {
        keys.map { context.permanentKey(for: $0, of: relationship.destination) }.filter { $0 > 0 }
    }

    /// All members in their order; those of an object that has not loaded them yet are loaded.
    private func orderedKeys(
        _ members: ToManyMembers,
        of relationship: Relationship,
        _ object: any GraphObject
    ) -> [Int64] {
        if !members.isLoaded { _ = context.loadMembers(of: relationship, for: object) }
        return Array(members.keys)
    }

    private mutating func checkCount(_ relationship: Relationship, _ object: any GraphObject) {
        let (minimum, maximum) = (relationship.description.minimumCount, relationship.description.maximumCount)
        guard minimum > 0 || maximum > 0 else { return }
        let count = object.memberObjects(at: relationship.slot).count
        if count < minimum { report(object.state, relationship.slot, .tooFewMembers) }
        if maximum > 0, count > maximum { report(object.state, relationship.slot, .tooManyMembers) }
    }

    private func permanentKey(of object: any GraphObject) -> Int64 {
        let key = object.state.pointee.key
        return key > 0 ? key : object.state.pointee.changes?.assignedKey ?? 0
    }
}

extension SaveChangesRequest.MembershipChange {
    fileprivate var changesPairs: Bool { !added.isEmpty || !removed.isEmpty }
}

extension Row {
    /// Whether a slot holds a value, bit for bit.
    func holds(_ value: Value, at slot: Int) -> Bool {
        guard slot < slotCount else { return value.isNull }
        switch (value, tag(at: slot)) {
        case (.null, .null): return true
        case (.integer(let integer), .integer): return integer == self.integer(at: slot)
        case (.real(let real), .real): return real.bitPattern == self.real(at: slot).bitPattern
        case (.text(var text), .text):
            return withBytes(at: slot) { bytes in text.withUTF8 { $0.elementsEqual(bytes) } }
        case (.blob(let data), .blob): return withBytes(at: slot) { data.elementsEqual($0) }
        case (.blob(let data), .deferredBlob): return (try? readBlob(at: slot)) == data
        case (.uuid(let uuid), .blob): return uuid == self.uuid(at: slot)
        default: return false
        }
    }
}
