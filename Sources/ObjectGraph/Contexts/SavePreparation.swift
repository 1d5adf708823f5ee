/// The changes of a context in the form in which its stores take them.
struct SavePreparation {
    /// What each store has to do.
    private(set) var batches: [StoreBatch] = []
    /// The objects to delete.
    let deleted: [any GraphObject]

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
        context.propagateDeletes()
        problems = context.deniedDeletions()
        deleted = context.deleted.objects
        batchesByEntity = Array(repeating: nil, count: context.model.entities.count)

        for (position, entry) in context.inserted.entries.enumerated()
        where entry.state.pointee.flags.contains(.inserted) {
            let (entity, batch) = try entityAndBatch(of: entry)
            batch.inserted.positions.append(position)
            let key = entry.state.pointee.changes?.assignedKey ?? 0
            // One that was in the store before goes on with its versions, so that everybody notices.
            let version = (entry.state.pointee.row?.version ?? 0) &+ versionStep
            encode(entry, entity, key: key, version: version, into: &batch.inserted.builder)
            if entity.hasToMany { collectMemberships(of: entry.object, into: &batch.request) }
        }
        for (position, entry) in context.updated.entries.enumerated()
        where entry.state.pointee.flags.contains(.updated) {
            let (entity, batch) = try entityAndBatch(of: entry)
            if entity.hasToMany { collectMemberships(of: entry.object, into: &batch.request) }
            guard let slots = changedSlots(of: entry) else {
                batch.related.append(entry)
                continue
            }
            let previous = entry.state.pointee.row?.version ?? 0
            batch.updated.positions.append(position)
            batch.request.updates.append(.init(previousVersion: previous, slots: slots))
            encode(
                entry,
                entity,
                key: entry.state.pointee.key,
                version: previous &+ versionStep,
                into: &batch.updated.builder
            )
        }
        for object in deleted {
            try batch(for: object.entity).request.deleted.append(
                .init(entity: object.entity, key: object.state.pointee.key, row: object.lastRow)
            )
        }
        problems += rejections
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
        for batch in batches { batch.finish() }
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

        /// Calls `body` with each object of the list that they are of, and its row.
        func forEach(of entries: [ChangedObject], _ body: (ChangedObject, Row) -> Void) {
            var position = positions.makeIterator()
            for chunk in rows.chunks {
                for index in 0..<chunk.rowCount {
                    guard let position = position.next() else { return }
                    body(entries[position], chunk.row(at: index))
                }
            }
        }
    }

    private mutating func entityAndBatch(of entry: ChangedObject) throws -> (Entity, StoreBatch) {
        let entity = entry.state.pointee.handler?.entity ?? entry.object.entity
        return (entity, try batch(for: entity))
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
    private func changedSlots(of entry: ChangedObject) -> SlotSet? {
        guard let changes = entry.state.pointee.changes else { return nil }
        let row = entry.state.pointee.row
        var slots = SlotSet()
        for slot in 0..<changes.slotCount {
            switch changes.slots[slot] {
            case .unset, .members, .pending: continue
            case .composite: slots.insert(slot)
            case .value(let value):
                if let row, row.holds(value, at: slot) { continue }
                slots.insert(slot)
            }
        }
        return slots.isEmpty ? nil : slots
    }

    /// Writes the row that an object is saved as.
    private mutating func encode(
        _ entry: ChangedObject,
        _ entity: Entity,
        key: Int64,
        version: UInt32,
        into rows: inout RowBatchBuilder
    ) {
        let row = entry.state.pointee.row
        let changes = entry.state.pointee.changes
        let slots = changes?.slots
        let traits = entity.traits
        rows.begin(key: key, version: version, entity: entity.index, slotCount: traits.count)
        for slot in 0..<traits.count {
            switch slots?[slot] ?? .unset {
            case .value(let value):
                encode(value, at: slot, traits[slot], entry.object, into: &rows)
            case .composite(let value):
                do {
                    var text = try value.encodedText()
                    text.withUTF8 { rows.set(text: UnsafeRawBufferPointer($0), at: slot) }
                } catch {
                    report(entry.object, slot, .notEncodable)
                }
            case .unset, .members, .pending:
                if let row, slot < row.slotCount, !row.isNull(at: slot) {
                    rows.copy(slot, of: row)
                } else if !traits[slot].isOptional {
                    report(entry.object, slot, .missingValue)
                }
            }
        }
        withExtendedLifetime(changes) {}
    }

    private mutating func encode(
        _ value: Value,
        at slot: Int,
        _ traits: SlotTraits,
        _ object: any GraphObject,
        into rows: inout RowBatchBuilder
    ) {
        switch value {
        case .null:
            if !traits.isOptional { report(object, slot, .missingValue) }
        case .integer(let key) where traits.destinationIndex >= 0:
            let destination = context.model.entities[traits.destinationIndex]
            let permanent = context.permanentKey(for: key, of: destination)
            if permanent != 0 {
                rows.set(integer: permanent, at: slot)
            } else if !traits.isOptional {
                report(object, slot, .missingValue)
            }
        case .real(let real) where real.isNaN:
            // SQLite keeps NaN as NULL.
            report(object, slot, .notRepresentable)
        default:
            if traits.isValidated, case .attribute(let attribute) = object.entity.properties[slot],
                let problem = attribute.description.validation.problem(of: value)
            {
                report(object, slot, problem)
            }
            rows.set(value, at: slot)
        }
    }

    private mutating func report(
        _ object: any GraphObject,
        _ slot: Int,
        _ reason: ObjectGraphError.ValidationProblem.Reason
    ) {
        problems.append(
            .init(id: object.managedObjectID, property: object.entity.properties[slot].name, reason: reason)
        )
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
        if count < minimum { report(object, relationship.slot, .tooFewMembers) }
        if maximum > 0, count > maximum { report(object, relationship.slot, .tooManyMembers) }
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
