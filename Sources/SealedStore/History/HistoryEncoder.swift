import Foundation
import ObjectGraph

/// Encodes the changes of a transaction, objects with the same change in one group.
///
/// Numbers are in groups of seven bits, the lowest first, with the eighth bit set if another group follows; signed
/// numbers are folded first (0, −1, 1, −2, …). A text is its length in bytes and UTF-8.
///
/// ```
/// row    := group*
/// group  := kind entity property* runs values*
/// kind   := 1 insert, 2 update, 3 delete, as a byte; 16 is added if there are values
/// entity := name
/// property* := count, then names
/// name   := 0 and a text, or the position from 1 on of a text that occurred before in the row
/// runs   := count, then for each: its first key less the last key before (signed), the number of keys
/// values := for each key and each property: old value (not of an insertion), new value (not of a deletion); the change
///           of a to-many relationship is one value
/// value  := 0 NULL | 1 integer (signed) | 2 the eight bytes of a real, lowest first | 3 text | 4 blob
///           | 5 members: added, removed, 1 and order or 0; each list is its count and the keys as differences
/// ```
struct HistoryEncoder {
    /// The size of a row's changes from which the next group begins another row.
    static let rowSize = 48 * 1024
    /// The number of objects in a row from which the next group begins another row. Below the limit of the numbers of
    /// changes, see ``HistoryDecoder/firstChange(ofRow:)``.
    static let rowCount = 1 << 19
    /// The number of runs of a group.
    private static let groupRuns = 4096

    static let valuesFlag: UInt8 = 16

    private var rows: [[UInt8]] = []
    private var row = HistoryBytes()
    private var names: [String: Int] = [:]
    private var rowObjects = 0

    // The group that is being collected.
    private var kind = PersistentHistoryChange.Kind.insert
    private var entity: Entity?
    private var slots = SlotSet()
    private var hasValues = false
    private var runs: [(first: Int64, count: Int)] = []
    private var groupObjects = 0
    private var values = HistoryBytes()

    /// Whether no change was added.
    var isEmpty: Bool { entity == nil && rows.isEmpty && row.bytes.isEmpty }

    /// Adds the change of an object.
    ///
    /// - Parameters:
    ///   - slots: The changed slots of an update, or the slots with recorded values of another change.
    ///   - values: Writes the values of the slots; nil if no values are recorded.
    mutating func add(
        _ kind: PersistentHistoryChange.Kind,
        _ entity: Entity,
        _ slots: SlotSet,
        key: Int64,
        values write: ((inout HistoryBytes) throws -> Void)? = nil
    ) rethrows {
        begin(kind, entity, slots, hasValues: write != nil)
        add(key, 1)
        try write?(&values)
    }

    /// Adds the same change, without values, of objects with successive keys.
    mutating func add(
        _ kind: PersistentHistoryChange.Kind,
        _ entity: Entity,
        _ slots: SlotSet = SlotSet(),
        keys: ClosedRange<Int64>
    ) {
        var first = keys.lowerBound
        while true {
            begin(kind, entity, slots, hasValues: false)
            let rest = keys.upperBound - first
            let count = min(rest, Int64(Self.rowCount - 1))
            add(first, Int(count) + 1)
            guard rest > count else { return }
            first += count + 1
        }
    }

    private mutating func begin(
        _ kind: PersistentHistoryChange.Kind,
        _ entity: Entity,
        _ slots: SlotSet,
        hasValues: Bool
    ) {
        if let current = self.entity, current === entity, self.kind == kind, self.hasValues == hasValues,
            groupObjects < Self.rowCount, runs.count < Self.groupRuns, values.bytes.count < Self.rowSize,
            self.slots == slots
        {
            return
        }
        endGroup()
        self.kind = kind
        self.entity = entity
        self.slots = slots
        self.hasValues = hasValues
    }

    @inline(__always)
    private mutating func add(_ key: Int64, _ count: Int) {
        groupObjects += count
        if let last = runs.last, last.first + Int64(last.count) == key, last.count + count <= Self.rowCount {
            runs[runs.count - 1].count += count
        } else {
            runs.append((key, count))
        }
    }

    private mutating func endGroup() {
        guard let entity, !runs.isEmpty else { return }
        if !row.bytes.isEmpty, row.bytes.count >= Self.rowSize || rowObjects + groupObjects > Self.rowCount { endRow() }
        rowObjects += groupObjects
        row.append(byte: kind.code | (hasValues ? Self.valuesFlag : 0))
        append(name: entity.name)
        let properties = entity.properties.filter { slots.contains($0.slot) }
        row.append(number: UInt64(properties.count))
        for property in properties { append(name: property.name) }
        row.append(number: UInt64(runs.count))
        var last: Int64 = 0
        for run in runs {
            row.append(signed: run.first - last)
            row.append(number: UInt64(run.count))
            last = run.first + Int64(run.count) - 1
        }
        row.bytes += values.bytes
        runs.removeAll(keepingCapacity: true)
        values.bytes.removeAll(keepingCapacity: true)
        groupObjects = 0
        self.entity = nil
    }

    private mutating func append(name: String) {
        if let position = names[name] {
            row.append(number: UInt64(position))
        } else {
            row.append(number: 0)
            row.append(text: name)
            names[name] = names.count + 1
        }
    }

    private mutating func endRow() {
        rows.append(row.bytes)
        row = HistoryBytes()
        names = [:]
        rowObjects = 0
    }

    /// The changes of the rows.
    mutating func finish() -> [[UInt8]] {
        endGroup()
        endRow()
        return rows
    }
}

extension PersistentHistoryChange.Kind {
    fileprivate var code: UInt8 {
        switch self {
        case .insert: 1
        case .update: 2
        case .delete: 3
        }
    }

    init?(code: UInt8) {
        switch code {
        case 1: self = .insert
        case 2: self = .update
        case 3: self = .delete
        default: return nil
        }
    }
}

/// The bytes of encoded changes.
struct HistoryBytes {
    var bytes: [UInt8] = []

    mutating func append(byte: UInt8) { bytes.append(byte) }

    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(signed number: Int64) { append(number: UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(counted data: UnsafeRawBufferPointer) {
        append(number: UInt64(data.count))
        bytes += data
    }

    /// Adds the value of a slot; NULL without a row.
    mutating func append(_ row: Row?, _ slot: Int) throws {
        guard let row, slot < row.slotCount else { return append(byte: 0) }
        switch row.tag(at: slot) {
        case .null, .omitted: append(byte: 0)
        case .integer:
            append(byte: 1)
            append(signed: row.integer(at: slot))
        case .real:
            append(byte: 2)
            withUnsafeBytes(of: row.real(at: slot).bitPattern.littleEndian) { bytes += $0 }
        case .text:
            append(byte: 3)
            row.withBytes(at: slot) { append(counted: $0) }
        case .blob:
            append(byte: 4)
            row.withBytes(at: slot) { append(counted: $0) }
        case .deferredBlob:
            append(byte: 4)
            try row.readBlob(at: slot).withUnsafeBytes { append(counted: $0) }
        }
    }

    /// Adds the change of a to-many relationship.
    mutating func append(_ change: PersistentHistoryChange.Members) {
        append(byte: 5)
        append(keys: change.added)
        append(keys: change.removed)
        append(byte: change.order == nil ? 0 : 1)
        if let order = change.order { append(keys: order) }
    }

    private mutating func append(keys: [Int64]) {
        append(number: UInt64(keys.count))
        var last: Int64 = 0
        for key in keys {
            append(signed: key &- last)
            last = key
        }
    }
}
