import EncryptedSQLite
import Foundation
import ObjectGraph

/// Collects the changes of one transaction for the history, and writes them before the commit.
///
/// The rows of a save are in its request. The recorder also learns of changes in rows that the save does not contain:
/// of references that a deletion clears, and of the owners of changed members. An object occurs once in a transaction:
/// it is inserted, deleted, or updated with all its changed properties.
final class HistoryRecorder {
    let connection: Connection
    let store: OpenStore
    /// Whether changes are recorded with their values.
    let recordsValues: Bool
    private let identifiesObjects: Bool
    private let author: String?

    var encoder = HistoryEncoder()
    /// The encoded changes, once they are written.
    private(set) var written: [[UInt8]] = []
    /// The time of the transaction, once it is written.
    private(set) var timestamp = 0.0
    /// The changed slots of objects whose rows the request does not contain, by root entity and key.
    private var related: [Int: [Int64: SlotSet]] = [:]
    /// The rows before their change, by root entity and key, as far as they are needed.
    private var oldRows: [Int: [Int64: Row]] = [:]
    /// The changes of to-many relationships by root entity, key and slot; only if values are recorded.
    private var members: [Int: [Int64: [Int: CollectedMembers]]] = [:]
    /// The keys of inserted objects by root entity, in the order of their insertion.
    private var inserted: [Int: [ClosedRange<Int64>]] = [:]
    /// The objects with cleared references in relationships that the model does not have.
    private var aside: [Relationship: Set<Int64>] = [:]
    /// The objects that an import has inserted.
    private var imported: [(entity: Entity, keys: ClosedRange<Int64>)] = []

    var model: ManagedObjectModel { store.schema.model }

    /// Begins to record a transaction; nil if the file has no history.
    static func begin(_ connection: Connection, _ store: OpenStore, author: String?) throws -> HistoryRecorder? {
        try store.states.state(on: connection).schema.conditions.history.map {
            HistoryRecorder(connection, store, $0, author: author)
        }
    }

    private init(_ connection: Connection, _ store: OpenStore, _ recording: HistoryRecording, author: String?) {
        self.connection = connection
        self.store = store
        recordsValues = recording.recordsValues
        identifiesObjects = recording.identifiesObjects
        self.author = author.map(PersistentHistoryTransaction.bounded)
    }

    // MARK: Changes outside the request

    /// Records that a property of an object has changed.
    func note(_ relationship: Relationship, of key: Int64) {
        related[relationship.source.rootIndex, default: [:]][key, default: SlotSet()].insert(relationship.slot)
    }

    /// Records that slots of an object have changed.
    func note(_ slots: SlotSet, of key: Int64, _ entity: Entity) {
        related[entity.rootIndex, default: [:]][key, default: SlotSet()].formUnion(slots)
    }

    /// The slots of an object that are recorded as changed.
    func changesOutsideRequest(of row: Row) -> SlotSet? {
        related.isEmpty ? nil : related[model.entities[row.entityIndex].rootIndex]?[row.key]
    }

    /// Records the change of a to-many relationship in a join table, or of its order.
    func note(_ change: SaveChangesRequest.MembershipChange) {
        let relationship = change.relationship
        note(relationship, of: change.owner)
        add(
            .init(added: change.added, removed: change.removed, order: change.order),
            to: relationship,
            of: change.owner
        )
        guard let inverse = relationship.inverse, inverse.isToMany else { return }
        for key in change.added {
            note(inverse, of: key)
            add(.init(added: [change.owner], removed: [], order: nil), to: inverse, of: key)
        }
        for key in change.removed {
            note(inverse, of: key)
            add(.init(added: [], removed: [change.owner], order: nil), to: inverse, of: key)
        }
    }

    private func add(_ change: PersistentHistoryChange.Members, to relationship: Relationship, of key: Int64) {
        guard recordsValues else { return }
        let root = relationship.source.rootIndex
        members[root, default: [:]][key, default: [:]][relationship.slot, default: .init()].add(change)
    }

    /// Changes of one relationship of an object, which are added one after the other.
    private struct CollectedMembers {
        private(set) var change = PersistentHistoryChange.Members(added: [], removed: [], order: nil)
        private var added: Set<Int64> = []
        private var removed: Set<Int64> = []

        mutating func add(_ more: PersistentHistoryChange.Members) {
            for key in more.added where added.insert(key).inserted { change.added.append(key) }
            for key in more.removed where removed.insert(key).inserted { change.removed.append(key) }
            change.order = more.order ?? change.order
        }
    }

    /// Records that members have lost an owner, which is deleted.
    func noteLoss(of owner: Int64, _ relationship: Relationship, from key: Int64) {
        note(relationship, of: key)
        add(.init(added: [], removed: [owner], order: nil), to: relationship, of: key)
    }

    /// Records the owners of new objects' rows, or of rows before and after a change.
    func noteOwners(of rows: RowBatch, _ slots: SlotSet? = nil) {
        for row in rows { noteOwners(of: row, slots) }
    }

    private func noteOwners(of row: Row, _ slots: SlotSet?) {
        let entity = model.entities[row.entityIndex]
        for relationship in store.statements.insertion(of: entity).memberships
        where relationship.slot < row.slotCount && slots?.contains(relationship.slot) ?? true {
            let key = row.integer(at: relationship.slot)
            if key != 0, let inverse = relationship.inverse { note(inverse, of: key) }
        }
    }

    /// Records rows that an import has inserted. It may change them until it ends.
    func noteImport(of rows: RowBatch) {
        for row in rows {
            if let last = imported.last, last.entity.index == row.entityIndex, last.keys.upperBound + 1 == row.key {
                imported[imported.count - 1].keys = last.keys.lowerBound...row.key
            } else {
                imported.append((model.entities[row.entityIndex], row.key...row.key))
            }
        }
        noteOwners(of: rows)
    }

    /// Records that an import has added a member to a to-many relationship.
    func noteMember(_ member: Int64, of relationship: Relationship, _ owner: Int64) {
        let hasPairs = store.schema.joinTables[relationship.index] != nil
        note(relationship, of: owner)
        if hasPairs { add(.init(added: [member], removed: [], order: nil), to: relationship, of: owner) }
        guard let inverse = relationship.inverse else { return }
        note(inverse, of: member)
        if hasPairs { add(.init(added: [owner], removed: [], order: nil), to: inverse, of: member) }
    }

    /// Records that objects have lost references in a relationship that the model does not have.
    func noteAside(_ keys: [Int64], of relationship: Relationship) {
        if !keys.isEmpty { aside[relationship, default: []].formUnion(keys) }
    }

    /// Adds the changes of ``noteAside(_:of:)``, without values.
    private func addAside() {
        for (relationship, keys) in aside.sorted(by: { $0.key.index < $1.key.index }) {
            let slots = SlotSet([.relationship(relationship)])
            for key in keys.sorted() { encoder.add(.update, relationship.source, slots, keys: key...key) }
        }
    }

    /// Records that objects were inserted.
    func noteInsertion(_ keys: ClosedRange<Int64>, of entity: Entity) {
        inserted[entity.rootIndex, default: []].append(keys)
    }

    // MARK: Rows before their change

    /// The rows of objects as they are now.
    ///
    /// - Parameters:
    ///   - keys: The keys, ascending.
    ///   - properties: The properties to read; nil for all.
    func rows(_ keys: [Int64], of root: Entity, only properties: Set<Property>? = nil) throws -> RowBatch {
        let table = store.schema.table(of: root)
        let selection = store.historySelections.selection(of: root, table, only: properties)
        var rows = RowBatchBuilder()
        for group in KeyGroup.groups(of: keys, .reading) {
            let condition = group.condition(#"t0."_id""#)
            let sql = "SELECT \(selection.columns) FROM \(table.name) AS t0 WHERE \(condition) ORDER BY t0.\"_id\""
            try connection.withStatement(sql) { query in
                try group.bind(to: query)
                try selection.readAll(query, into: &rows, order: group.order, store.largeValues(on: connection))
            }
        }
        return rows.finish()
    }

    /// Keeps the rows of objects that are about to change.
    @discardableResult
    func keepRows(_ keys: [Int64], of root: Entity, only properties: Set<Property>? = nil) throws -> RowBatch {
        var known = oldRows.removeValue(forKey: root.index) ?? [:]
        let missing = known.isEmpty ? keys : keys.filter { known[$0] == nil }
        let rows = try rows(missing, of: root, only: properties)
        for row in rows { known[row.key] = row }
        oldRows[root.index] = known
        return rows
    }

    /// Keeps the rows of objects that are about to change, if values are recorded.
    func keepOldValues(_ keys: @autoclosure () throws -> [Int64], of root: Entity) throws {
        if recordsValues { try keepRows(try keys(), of: root) }
    }

    /// Drops the kept rows of a root entity.
    func forgetRows(of root: Entity) { oldRows[root.index] = nil }

    private func oldRow(_ key: Int64, _ rootIndex: Int) -> Row? { oldRows[rootIndex]?[key] }

    // MARK: Encoding

    /// Adds the insertion of an object.
    func addInsertion(of row: Row) throws {
        let entity = model.entities[row.entityIndex]
        guard recordsValues else { return encoder.add(.insert, entity, SlotSet(), key: row.key) }
        let changes = members[entity.rootIndex]?.removeValue(forKey: row.key) ?? [:]
        let slots = SlotSet(allOf: entity)
        try encoder.add(.insert, entity, slots, key: row.key) { bytes in
            for slot in 0..<entity.slotCount {
                if let change = changes[slot]?.change { bytes.append(change) } else { try bytes.append(row, slot) }
            }
        }
    }

    /// Adds the update of an object, with the changes that were recorded of it.
    func addUpdate(of row: Row, _ changed: SlotSet) throws {
        let entity = model.entities[row.entityIndex]
        var slots = changed
        if !related.isEmpty, let others = related[entity.rootIndex]?.removeValue(forKey: row.key) {
            slots.formUnion(others)
        }
        guard recordsValues else { return encoder.add(.update, entity, slots, key: row.key) }
        let old = oldRow(row.key, entity.rootIndex)
        let changes = members[entity.rootIndex]?.removeValue(forKey: row.key) ?? [:]
        try encoder.add(.update, entity, slots, key: row.key) { bytes in
            for slot in 0..<entity.slotCount where slots.contains(slot) {
                if let change = changes[slot]?.change {
                    bytes.append(change)
                } else {
                    try bytes.append(old, slot)
                    try bytes.append(row, slot)
                }
            }
        }
    }

    /// Adds the deletion of an object.
    func addDeletion(of key: Int64, _ entity: Entity) throws {
        let slots = tombstoneSlots(of: entity)
        guard !slots.isEmpty else { return encoder.add(.delete, entity, slots, key: key) }
        let old = oldRow(key, entity.rootIndex)
        try encoder.add(.delete, entity, slots, key: key) { bytes in
            for slot in 0..<entity.slotCount where slots.contains(slot) { try bytes.append(old, slot) }
        }
    }

    /// The slots whose values the tombstones of an entity keep.
    func tombstoneSlots(of entity: Entity) -> SlotSet {
        let rules = store.statements.insertion(of: entity)
        return recordsValues ? rules.columnSlots : rules.preservedSlots
    }

    /// Adds the updates of objects whose rows the request does not contain, as far as they still exist.
    private func addRelated() throws {
        for rootIndex in related.keys.sorted() {
            guard let changed = related.removeValue(forKey: rootIndex) else { continue }
            let root = model.entities[rootIndex]
            let ranges = inserted[rootIndex]?.sorted { $0.lowerBound < $1.lowerBound } ?? []
            let keys = changed.keys.sorted().filter { !ranges.containsKey($0) }
            // Only the keys, if no values are recorded.
            for row in try rows(keys, of: root, only: recordsValues ? nil : []) {
                try addUpdate(of: row, changed[row.key] ?? SlotSet())
            }
        }
    }

    // MARK: The end

    /// Writes the transaction, unless it has no changes.
    ///
    /// - Returns: the number of the transaction; nil without changes.
    func finish() throws -> Int64? {
        for (entity, keys) in imported { try addInsertions([keys.lowerBound..<keys.upperBound + 1], of: entity, []) }
        try addRelated()
        addAside()
        guard !encoder.isEmpty else { return nil }
        if identifiesObjects {
            var identifiers = GlobalIdentifierSequence()
            for (rootIndex, ranges) in inserted {
                let root = model.entities[rootIndex]
                let keys = ranges.lazy.joined()
                try GlobalIdentifierTable.insert(keys, of: root, store.schema.names, &identifiers, on: connection)
            }
        }
        timestamp = Date().timeIntervalSinceReferenceDate
        let origin = HistoryTable.Origin(
            timestamp: timestamp,
            author: author,
            bundle: HistoryProcess.bundle,
            process: HistoryProcess.process,
            store: store.historyOrigin
        )
        written = encoder.finish()
        let number = try HistoryTable.insert(written, origin, on: connection)
        store.historyCursor.noteWritten(number - Int64(written.count - 1)...number)
        store.historyTrimming.noteTransaction()
        return number
    }
}

extension [ClosedRange<Int64>] {
    /// Whether one of the ranges, in ascending order, contains a key.
    fileprivate func containsKey(_ key: Int64) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].contains(key)
    }
}

/// The names of the running process in the history.
enum HistoryProcess {
    static let bundle = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    static let process = "\(ProcessInfo.processInfo.processName)-\(ProcessInfo.processInfo.processIdentifier)"
}
