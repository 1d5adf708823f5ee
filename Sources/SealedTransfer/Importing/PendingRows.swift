import EncryptedSQLite
import ObjectGraph
import SealedStore

/// The rows that an import writes together, and the range of the keys that it has written.
struct PendingRows {
    /// A new object, or an object of the store with its changed slots.
    struct Row {
        let entity: Entity
        let key: Int64
        var values: [Value?]
        let existing: ObjectGraph.Row?

        /// The slots whose values differ from the values of the object of the store.
        func changedSlots(from existing: ObjectGraph.Row) -> SlotSet {
            var slots = SlotSet()
            for (slot, value) in values.enumerated() {
                if let value, !existing.holds(value, at: slot) { slots.insert(slot) }
            }
            return slots
        }
    }

    private var rows: [Row] = []
    private var byteCount = 0
    /// The smallest and the largest key of the rows, by the entity's index.
    private var writtenKeys: [Int: ClosedRange<Int64>] = [:]

    private static let rowsAtOnce = 512
    private static let bytesAtOnce = 4 << 20

    /// Whether the rows should be written.
    var isFull: Bool { rows.count >= Self.rowsAtOnce || byteCount >= Self.bytesAtOnce }

    mutating func append(_ row: Row) {
        rows.append(row)
        for value in row.values {
            switch value {
            case .text(let text): byteCount += text.utf8.count
            case .blob(let data): byteCount += data.count
            default: byteCount += 8
            }
        }
        let keys = writtenKeys[row.entity.index] ?? row.key...row.key
        writtenKeys[row.entity.index] = min(keys.lowerBound, row.key)...max(keys.upperBound, row.key)
    }

    /// Writes the rows.
    ///
    /// - Throws: ``TransferError/violations(_:)``; errors of the transaction.
    mutating func write(to transaction: ImportTransaction) throws {
        var new = RowBatchBuilder()
        var changed = RowBatchBuilder()
        var updates: [SaveChangesRequest.Update] = []
        for row in rows {
            guard let existing = row.existing else {
                new.begin(key: row.key, version: 1, entity: row.entity.index, slotCount: row.entity.slotCount)
                for (slot, value) in row.values.enumerated() { new.set(value ?? .null, at: slot) }
                continue
            }
            let slots = row.changedSlots(from: existing)
            if slots.isEmpty { continue }
            changed.begin(
                key: row.key,
                version: existing.version &+ 1,
                entity: row.entity.index,
                slotCount: row.entity.slotCount
            )
            for slot in 0..<row.entity.slotCount {
                if slots.contains(slot), let value = row.values[slot] {
                    changed.set(value, at: slot)
                } else {
                    changed.copy(slot, of: existing)
                }
            }
            updates.append(SaveChangesRequest.Update(previousVersion: existing.version, slots: slots))
        }
        rows.removeAll(keepingCapacity: true)
        byteCount = 0
        let (newRows, changedRows) = (new.finish(), changed.finish())
        do {
            if newRows.count > 0 { try transaction.insert(newRows) }
        } catch DatabaseError.constraint(let violation) where violation.kind == .primaryKey {
            throw TransferError.violations(["two objects of an entity have the same identifier"])
        }
        if changedRows.count > 0 { try transaction.update(changedRows, updates) }
    }

    /// The smallest and the largest key of the rows, by entity.
    func written(_ model: ManagedObjectModel) -> [(entity: Entity, keys: ClosedRange<Int64>)] {
        writtenKeys.map { (entity: model.entities[$0.key], keys: $0.value) }
    }
}
