import EncryptedSQLite
import ObjectGraph

extension HistoryRecorder {
    /// Keeps the old values that a save is about to change.
    func willWrite(_ request: SaveChangesRequest, _ deleted: [DeletedKeys]) throws {
        for (rootIndex, groups) in Dictionary(grouping: deleted, by: \.entity.rootIndex) {
            let root = model.entities[rootIndex]
            try willDelete(groups.flatMap { Array($0.keys) }.sorted(), of: root)
        }
        try keepUpdatedRows(request)
    }

    /// Keeps the last values of objects that are about to be deleted, and records the owners of which they are members.
    ///
    /// - Parameter keys: The keys, ascending.
    func willDelete(_ keys: [Int64], of root: Entity) throws {
        var properties: Set<Property> = []
        var owners = false
        for entity in root.family {
            let rules = store.statements.insertion(of: entity)
            let slots = tombstoneSlots(of: entity)
            for property in entity.properties where slots.contains(property.slot) { properties.insert(property) }
            for relationship in rules.memberships {
                properties.insert(.relationship(relationship))
                owners = true
            }
        }
        guard !properties.isEmpty else { return }
        let rows = try keepRows(keys, of: root, only: recordsValues ? nil : properties)
        if owners { noteOwners(of: rows) }
    }

    /// Keeps the rows whose old values are recorded, and records the owners that lose members.
    func keepUpdatedRows(_ request: SaveChangesRequest) throws {
        let rules = store.statements.memberships
        guard recordsValues || rules.contains(where: { !$0.isEmpty }) else { return }
        var keys: [Int: [Int64]] = [:]
        var position = 0
        for chunk in request.updated.chunks {
            for index in 0..<chunk.rowCount where position < request.updates.count {
                let row = chunk.row(at: index)
                let slots = request.updates[position].slots
                position += 1
                guard recordsValues || rules[row.entityIndex].contains(where: { slots.contains($0.slot) }) else {
                    continue
                }
                keys[model.entities[row.entityIndex].rootIndex, default: []].append(row.key)
            }
        }
        for (rootIndex, keys) in keys {
            let root = model.entities[rootIndex]
            let properties = Set(
                root.family.flatMap { rules[$0.index] }.map { Property.relationship($0) }
            )
            let rows = try keepRows(keys.sorted(), of: root, only: recordsValues ? nil : properties)
            noteChangedOwners(rows, request, rules)
        }
    }

    /// Records the owners, before and after the save, of members whose owner changes.
    private func noteChangedOwners(_ rows: RowBatch, _ request: SaveChangesRequest, _ rules: [[Relationship]]) {
        guard rules.contains(where: { !$0.isEmpty }) else { return }
        var old: [Int64: Row] = [:]
        for row in rows { old[row.key] = row }
        for (row, update) in zip(request.updated, request.updates) {
            for relationship in rules[row.entityIndex] where update.slots.contains(relationship.slot) {
                guard let inverse = relationship.inverse, let before = old[row.key],
                    before.entityIndex == row.entityIndex
                else { continue }
                for key in [before.integer(at: relationship.slot), row.integer(at: relationship.slot)] where key != 0 {
                    note(inverse, of: key)
                }
            }
        }
    }

    /// Adds the changes of a save, which is written.
    func didWrite(_ request: SaveChangesRequest, _ deleted: [DeletedKeys]) throws {
        for change in request.memberships { note(change) }
        try addInsertions(request.inserted)
        var position = 0
        for chunk in request.updated.chunks {
            for index in 0..<chunk.rowCount where position < request.updates.count {
                let (row, slots) = (chunk.row(at: index), request.updates[position].slots)
                if hasOtherReference(row) {
                    note(slots, of: row.key, model.entities[row.entityIndex])
                } else {
                    try addUpdate(of: row, slots)
                }
                position += 1
            }
        }
        for group in deleted {
            for key in group.keys { try addDeletion(of: key, group.entity) }
        }
    }

    /// Whether the save has changed a to-one relationship of an object after its row was written. The history records
    /// the value that the store has at the end.
    private func hasOtherReference(_ row: Row) -> Bool {
        guard recordsValues, let slots = changesOutsideRequest(of: row) else { return false }
        return !slots.isDisjoint(with: store.statements.toOneSlots[row.entityIndex])
    }

    /// Adds the insertions of rows, and records their owners.
    private func addInsertions(_ rows: RowBatch) throws {
        guard !rows.chunks.isEmpty else { return }
        let memberships = store.statements.memberships
        var lastOwners = memberships.map { Array(repeating: Int64(0), count: $0.count) }
        var run: (entity: Entity, keys: ClosedRange<Int64>)?
        for chunk in rows.chunks {
            for index in 0..<chunk.rowCount {
                let row = chunk.row(at: index)
                let (entityIndex, key) = (row.entityIndex, row.key)
                // Rows with the same owner are mostly adjacent.
                for position in memberships[entityIndex].indices {
                    let relationship = memberships[entityIndex][position]
                    let owner = row.integer(at: relationship.slot)
                    guard owner != 0, owner != lastOwners[entityIndex][position] else { continue }
                    lastOwners[entityIndex][position] = owner
                    if let inverse = relationship.inverse { note(inverse, of: owner) }
                }
                if recordsValues { try addInsertion(of: row) }
                if let current = run, current.entity.index == entityIndex, current.keys.upperBound + 1 == key {
                    run = (current.entity, current.keys.lowerBound...key)
                    continue
                }
                if let run { end(run) }
                run = (model.entities[entityIndex], key...key)
            }
        }
        if let run { end(run) }
    }

    private func end(_ run: (entity: Entity, keys: ClosedRange<Int64>)) {
        noteInsertion(run.keys, of: run.entity)
        if !recordsValues { encoder.add(.insert, run.entity, keys: run.keys) }
    }

    /// Clears references with a statement that returns the keys of the changed rows.
    ///
    /// - Parameter finding: Selects the keys of the rows to change, if their old values are recorded.
    /// - Returns: the keys of the changed rows.
    @discardableResult
    func clear(
        _ reference: Relationship,
        with clearing: SQLText,
        finding: SQLText,
        _ bind: (borrowing Statement) throws -> Void
    ) throws -> [Int64] {
        if recordsValues {
            let root = model.entities[reference.source.rootIndex]
            try keepRows(try connection.keys(finding, bind).sorted(), of: root)
        }
        let keys = try connection.keys(clearing, bind)
        for key in keys { note(reference, of: key) }
        return keys
    }
}
