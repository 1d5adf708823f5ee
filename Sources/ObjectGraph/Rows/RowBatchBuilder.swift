import Foundation

/// Writes rows into chunks: one ``begin(key:version:entity:slotCount:)`` for each row, then the values of its slots.
///
/// Slots that are not set are null. The builder makes no allocation for a row or a value.
public struct RowBatchBuilder: ~Copyable {
    @usableFromInline var chunks: [RowChunk] = []
    @usableFromInline var chunk: RowChunk
    @usableFromInline var row: UnsafeMutablePointer<UInt64>
    @usableFromInline var slotCount = 0
    /// The position of the next text or blob, in bytes from the row's start.
    @usableFromInline var end = 0
    /// The number of bytes from the row's start to the chunk's offsets.
    @usableFromInline var room = 0
    @usableFromInline var finishedRows = 0
    @usableFromInline var isInRow = false
    /// The source of the rows' deferred blobs.
    @usableFromInline var deferredValues: (any DeferredValueSource)?
    /// The list to which an unreadable deferred value is reported.
    @usableFromInline var readFailures: ReadFailures?

    /// The slot of a text or blob that did not fit in its row, and was replaced by an empty value; nil if all fitted.
    private var overlongSlot: Int?

    /// The largest number of bytes of a row. SQLite's limit, whatever its settings, is one byte less than 2 GiB.
    @usableFromInline static var rowByteLimit: Int { Int(Int32.max) }

    /// Creates a builder. It makes its first chunk for the first row. That chunk is small and each further chunk
    /// larger, up to the usual size, so that a few rows do not use the memory of many.
    ///
    /// - Parameters:
    ///   - deferredValues: The source of the deferred blobs, see ``setDeferredBlob(at:isStoredApart:)``.
    ///   - readFailures: The list to which unreadable deferred blobs are reported: the list of the context or of the
    ///     request.
    @inlinable
    public init(deferredValues: (any DeferredValueSource)? = nil, readFailures: ReadFailures? = nil) {
        self.deferredValues = deferredValues
        self.readFailures = readFailures
        chunk = RowChunk.empty
        row = chunk.base
    }

    /// The number of rows begun so far.
    @inlinable
    public var count: Int { finishedRows + Int(chunk.fields.pointee.rowCount) + (isInRow ? 1 : 0) }

    /// Ends the previous row and begins a new row, with all slots null.
    @inlinable
    public mutating func begin(key: Int64, version: UInt32, entity: Int, slotCount: Int) {
        endRow()
        let words = Row.headerWords + slotCount + (slotCount + 7) / 8
        if Int(chunk.fields.pointee.capacity) - Int(chunk.fields.pointee.used) < words + Int(
            chunk.fields.pointee.rowCount + 2
        ) / 2 {
            startChunk(words: words + 1)
        }
        row = chunk.base + Int(chunk.fields.pointee.used)
        self.slotCount = slotCount
        row[0] = UInt64(bitPattern: key)
        row[1] = UInt64(version) | UInt64(UInt16(entity)) << 32 | UInt64(UInt16(slotCount)) << 48
        (row + Row.headerWords).update(repeating: 0, count: words - Row.headerWords)
        end = 8 * words
        room =
            8 * (Int(chunk.fields.pointee.capacity) - Int(chunk.fields.pointee.used)) - 4
            * Int(chunk.fields.pointee.rowCount + 1)
        isInRow = true
    }

    @inlinable
    mutating func endRow() {
        guard isInRow else { return }
        isInRow = false
        chunk.fields.pointee.rowCount += 1
        let offsets = UnsafeMutableRawPointer(chunk.base + Int(chunk.fields.pointee.capacity))
        offsets.storeBytes(
            of: chunk.fields.pointee.used,
            toByteOffset: -4 * Int(chunk.fields.pointee.rowCount),
            as: UInt32.self
        )
        chunk.fields.pointee.used += UInt32((end + 7) / 8)
    }

    @usableFromInline
    mutating func startChunk(words: Int) {
        if chunk.fields.pointee.rowCount > 0 {
            chunks.append(chunk)
            finishedRows += Int(chunk.fields.pointee.rowCount)
        }
        let grown = Swift.min(8 * Int(chunk.fields.pointee.capacity), RowChunk.standardCapacity)
        chunk = RowChunk.make(words: Swift.max(words, grown, RowChunk.smallestCapacity))
        chunk.fields.pointee.deferredValues = deferredValues
        chunk.fields.pointee.readFailures = readFailures
    }

    /// Moves the current row to a chunk with space for `bytes` more. Returns false if the row would exceed the limit.
    @usableFromInline
    mutating func moveRow(toFit bytes: Int, at slot: Int) -> Bool {
        guard bytes <= Self.rowByteLimit - end else {
            overlongSlot = slot
            return false
        }
        let old = chunk
        let oldRow = row
        let used = end
        let needed = (used + bytes + 7) / 8 + 1
        startChunk(words: needed)
        row = chunk.base
        UnsafeMutableRawPointer(row).copyMemory(from: UnsafeRawPointer(oldRow), byteCount: used)
        withExtendedLifetime(old) {}
        room = 8 * Int(chunk.fields.pointee.capacity) - 4
        return true
    }

    @inlinable
    mutating func setTag(_ tag: Row.Tag, at slot: Int) {
        assert(isInRow && slot >= 0 && slot < slotCount, "there is no such slot")
        UnsafeMutableRawPointer(row + Row.headerWords + slotCount)
            .storeBytes(of: tag.rawValue, toByteOffset: slot, as: UInt8.self)
    }

    /// Sets a slot of the row to an integer.
    @inlinable
    public mutating func set(integer value: Int64, at slot: Int) {
        setTag(.integer, at: slot)
        row[Row.headerWords + slot] = UInt64(bitPattern: value)
    }

    /// Sets a slot of the row to a real.
    @inlinable
    public mutating func set(real value: Double, at slot: Int) {
        setTag(.real, at: slot)
        row[Row.headerWords + slot] = value.bitPattern
    }

    /// Sets a slot of the row to a text in UTF-8. Each slot can be set to text or a blob once.
    @inlinable
    public mutating func set(text bytes: UnsafeRawBufferPointer, at slot: Int) {
        setTag(.text, at: slot)
        append(bytes, at: slot)
    }

    /// Sets a slot of the row to a blob. Each slot can be set to text or a blob once.
    @inlinable
    public mutating func set(blob bytes: UnsafeRawBufferPointer, at slot: Int) {
        setTag(.blob, at: slot)
        append(bytes, at: slot)
    }

    /// Marks a slot of the row as a blob that is read from the store on first access.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - isStoredApart: Whether the store holds the blob outside the row. See ``Row/isStoredApart(at:)``.
    @inlinable
    public mutating func setDeferredBlob(at slot: Int, isStoredApart: Bool = false) {
        setTag(.deferredBlob, at: slot)
        row[Row.headerWords + slot] = isStoredApart ? 1 : 0
    }

    /// Marks a slot of the row as not read. Only rows for a request with ``FetchRequest/propertiesToFetch``, or without
    /// ``FetchRequest/includesPropertyValues``, may have such slots: the object of any other row has all its values.
    @inlinable
    public mutating func setOmitted(at slot: Int) { setTag(.omitted, at: slot) }

    @inlinable
    mutating func append(_ bytes: UnsafeRawBufferPointer, at slot: Int) {
        if bytes.count > room - end, !moveRow(toFit: bytes.count, at: slot) { return }
        if let source = bytes.baseAddress {
            (UnsafeMutableRawPointer(row) + end).copyMemory(from: source, byteCount: bytes.count)
        }
        row[Row.headerWords + slot] = UInt64(UInt32(end)) | UInt64(UInt32(bytes.count)) << 32
        end += bytes.count
    }

    /// Sets a slot of the row to a value.
    public mutating func set(_ value: Value, at slot: Int) {
        switch value {
        case .null: break
        case .integer(let value): set(integer: value, at: slot)
        case .real(let value): set(real: value, at: slot)
        case .text(let text):
            // Read in place: making the text contiguous would copy it first.
            let isSet: Void? = text.utf8.withContiguousStorageIfAvailable {
                set(text: UnsafeRawBufferPointer($0), at: slot)
            }
            if isSet == nil { Array(text.utf8).withUnsafeBytes { set(text: $0, at: slot) } }
        case .blob(let data): data.withUnsafeBytes { set(blob: $0, at: slot) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { set(blob: $0, at: slot) }
        }
    }

    /// Copies a slot of another row.
    public mutating func copy(_ slot: Int, of other: Row) {
        switch other.tag(at: slot) {
        case .null: break
        case .integer: set(integer: other.integer(at: slot), at: slot)
        case .real: set(real: other.real(at: slot), at: slot)
        case .text: other.withBytes(at: slot) { set(text: $0, at: slot) }
        case .blob: other.withBytes(at: slot) { set(blob: $0, at: slot) }
        case .deferredBlob:
            if deferredValues == nil {
                deferredValues = other.chunk.fields.pointee.deferredValues
                chunk.fields.pointee.deferredValues = deferredValues
            }
            if readFailures == nil {
                readFailures = other.chunk.fields.pointee.readFailures
                chunk.fields.pointee.readFailures = readFailures
            }
            setDeferredBlob(at: slot, isStoredApart: other.isStoredApart(at: slot))
        case .omitted: setOmitted(at: slot)
        }
    }

    /// Returns the slot of a text or blob that did not fit in its row since the last call; nil if all fitted. The row
    /// has an empty value in its place and must not be saved.
    mutating func takeOverlongSlot() -> Int? {
        guard let slot = overlongSlot else { return nil }
        overlongSlot = nil
        return slot
    }

    /// Reports that the store has no value for a slot of the row, although the property is not optional. The slot stays
    /// null.
    @inline(never)
    public func reportMissingValue(at slot: Int) {
        readFailures?.add(
            .init(
                entityIndex: Int(UInt16(truncatingIfNeeded: row[1] >> 32)),
                key: Int64(bitPattern: row[0]),
                slot: slot,
                cause: ReadFailures.MissingValue()
            )
        )
    }

    /// Ends the last row and returns all rows.
    @inlinable
    public consuming func finish() -> RowBatch {
        endRow()
        guard finishedRows > 0 else {
            let count = Int(chunk.fields.pointee.rowCount)
            return RowBatch(chunks: count > 0 ? [chunk] : [], count: count)
        }
        if chunk.fields.pointee.rowCount > 0 {
            chunks.append(chunk)
            finishedRows += Int(chunk.fields.pointee.rowCount)
        }
        return RowBatch(chunks: chunks, count: finishedRows)
    }
}

extension RowBatchBuilder {
    /// Appends a copy of a row.
    public mutating func append(_ row: Row) {
        begin(key: row.key, version: row.version, entity: row.entityIndex, slotCount: row.slotCount)
        for slot in 0..<row.slotCount { copy(slot, of: row) }
    }
}

extension Row {
    /// The row, copied if it has deferred values, so that a value that cannot be read later is reported to the list of the
    /// receiving context.
    func reporting(to readFailures: ReadFailures) -> Row {
        guard mayHaveDeferredBlobs else { return self }
        return RowBatch(copying: CollectionOfOne(self), readFailures: readFailures).first { _ in true } ?? self
    }

    /// A copy of the row with the values of another row of the object in some slots.
    func taking(_ other: Row, where isTaken: (Int) -> Bool) -> Row {
        var rows = RowBatchBuilder()
        rows.begin(key: key, version: version, entity: entityIndex, slotCount: slotCount)
        for slot in 0..<slotCount { rows.copy(slot, of: isTaken(slot) ? other : self) }
        // The builder has one row.
        return rows.finish().first { _ in true } ?? self
    }
}

extension RowBatch {
    /// Copies rows. Deferred values that cannot be read later are reported to `readFailures`; if it is nil, to the
    /// lists of the original rows.
    init(copying rows: some Sequence<Row>, readFailures: ReadFailures? = nil) {
        var builder = RowBatchBuilder(readFailures: readFailures)
        for row in rows { builder.append(row) }
        self = builder.finish()
    }

    /// The rows, copied if they have deferred values, so that a value that cannot be read later is reported to the list
    /// of the receiving context.
    func reporting(to readFailures: ReadFailures) -> RowBatch {
        guard chunks.contains(where: { $0.fields.pointee.deferredValues != nil }) else { return self }
        return RowBatch(copying: self, readFailures: readFailures)
    }
}
