import EncryptedSQLite
import ObjectGraph
import SealedStore

/// The rows that an import writes together, and the keys of the new objects.
struct PendingRows {
    /// A new object, or an object of the store with its changed slots.
    struct Row {
        let entity: Entity
        let key: Int64
        var values: [Value?]
        let existing: ObjectGraph.Row?
    }

    private var rows: [Row] = []
    private var byteCount = 0
    /// The ranges of the keys of new objects, by the entity's index. Successive keys are one range.
    private var newKeys: [Int: [Range<Int64>]] = [:]

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
        guard row.existing == nil else { return }
        var ranges = newKeys[row.entity.index] ?? []
        // So that the array is not copied.
        newKeys[row.entity.index] = nil
        if let last = ranges.last, last.upperBound == row.key {
            ranges[ranges.count - 1] = last.lowerBound..<(row.key + 1)
        } else {
            ranges.append(row.key..<(row.key + 1))
        }
        newKeys[row.entity.index] = ranges
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
            changed.begin(
                key: row.key,
                version: existing.version &+ 1,
                entity: row.entity.index,
                slotCount: row.entity.slotCount
            )
            var slots = SlotSet()
            for slot in 0..<row.entity.slotCount {
                if let value = row.values[slot] {
                    changed.set(value, at: slot)
                    slots.insert(slot)
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

    /// The ranges of the keys of new objects, by entity.
    func inserted(_ model: ManagedObjectModel) -> [(entity: Entity, keys: [Range<Int64>])] {
        newKeys.map { (entity: model.entities[$0.key], keys: $0.value) }
    }
}
