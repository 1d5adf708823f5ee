public import Foundation

/// A row of a store as it was read or written: the values of one object's attributes and to-one relationships at one
/// version. Immutable, and cheap to pass between threads.
///
/// Values are read by slot. A slot of a to-many relationship is null. Reading a slot as a type other than the type of
/// its value returns a meaningless number or an empty text, but never reads memory outside the row.
///
/// `@unchecked Sendable`: the properties are constants. The memory of the ``RowChunk`` is written only by the builder
/// that made the chunk, before it returns the batch from which rows are made; afterwards all threads only read it. The
/// objects to which its header refers are `Sendable`.
public struct Row: SlotValues, @unchecked Sendable {
    @usableFromInline let chunk: RowChunk
    @usableFromInline let offset: UInt32

    @inlinable
    init(chunk: RowChunk, offset: UInt32) {
        self.chunk = chunk
        self.offset = offset
    }

    /// The kind of a slot's value.
    public enum Tag: UInt8, Sendable {
        case null, integer, real, text, blob
        /// A blob that stays in the store until it is accessed.
        case deferredBlob
        /// A value that was not read, since the request selected other properties.
        case omitted
    }

    /// The primary key of the row that starts at `words`.
    @inlinable
    static func key(_ words: UnsafePointer<UInt64>) -> Int64 { Int64(bitPattern: words[0]) }

    /// The entity's index of the row that starts at `words`.
    @inlinable
    static func entityIndex(_ words: UnsafePointer<UInt64>) -> Int { Int(UInt16(truncatingIfNeeded: words[1] >> 32)) }

    /// The number of words before the slots.
    @inlinable static var headerWords: Int { 2 }

    @inlinable
    var words: UnsafeMutablePointer<UInt64> { chunk.base + Int(offset) }

    @inlinable
    var bytes: UnsafeRawPointer { UnsafeRawPointer(words) }

    /// The primary key.
    @inlinable
    public var key: Int64 { Row.key(words) }

    /// The version: 1 after the insertion, incremented by every save.
    @inlinable
    public var version: UInt32 { UInt32(truncatingIfNeeded: words[1]) }

    /// Whether another row of the same object was saved later. Versions wrap around.
    func isOlder(than other: Row) -> Bool { Int32(bitPattern: other.version &- version) > 0 }

    /// The ``Entity/index`` of the row's entity.
    @inlinable
    public var entityIndex: Int { Row.entityIndex(words) }

    /// The number of slots.
    @inlinable
    public var slotCount: Int { Int(words[1] >> 48) }

    /// The kind of a slot's value.
    @inlinable
    public func tag(at slot: Int) -> Tag {
        let count = slotCount
        precondition(slot >= 0 && slot < count, "there is no such slot")
        let tags = (bytes + 8 * (Row.headerWords + count))
        return Tag(rawValue: tags.load(fromByteOffset: slot, as: UInt8.self)) ?? .null
    }

    /// Whether the value of a slot is null.
    @inlinable
    public func isNull(at slot: Int) -> Bool { tag(at: slot) == .null }

    @inlinable
    func word(at slot: Int) -> UInt64 {
        precondition(slot >= 0 && slot < slotCount, "there is no such slot")
        return words[Row.headerWords + slot]
    }

    /// The integer in a slot; 0 if it is null.
    @inlinable
    public func integer(at slot: Int) -> Int64 { Int64(bitPattern: word(at: slot)) }

    /// The real in a slot; 0 if it is null.
    @inlinable
    public func real(at slot: Int) -> Double { Double(bitPattern: word(at: slot)) }

    /// The bytes of the text or blob in a slot, valid for the lifetime of the row; empty for other values.
    @inlinable
    func unsafeBytes(at slot: Int) -> UnsafeRawBufferPointer {
        let tag = tag(at: slot)
        guard tag == .text || tag == .blob else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let word = word(at: slot)
        let position = Int(UInt32(truncatingIfNeeded: word))
        return UnsafeRawBufferPointer(start: bytes + position, count: Int(word >> 32))
    }

    /// Calls `body` with the bytes of the text or blob in a slot; they are empty for other values.
    ///
    /// The memory belongs to the row and is constant for the lifetime of the row and its copies. Only the bytes of a
    /// deferred blob are read each time, and are freed when `body` returns. They are empty if the read fails, which the
    /// context's next fetch and save report.
    @inlinable
    public func withBytes<R>(at slot: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        if tag(at: slot) == .deferredBlob { return try deferredBlob(at: slot).withUnsafeBytes(body) }
        defer { withExtendedLifetime(chunk) {} }
        return try body(unsafeBytes(at: slot))
    }

    /// The text in a slot; empty for other values.
    @inlinable
    public func text(at slot: Int) -> String {
        withBytes(at: slot) { String(decoding: $0, as: UTF8.self) }
    }

    /// The blob in a slot; empty for other values.
    @inlinable
    public func blob(at slot: Int) -> Data {
        if tag(at: slot) == .deferredBlob { return deferredBlob(at: slot) }
        return withBytes(at: slot) { Data($0) }
    }

    /// The deferred blob; empty if it cannot be read, which the context's next fetch and save report.
    @usableFromInline
    func deferredBlob(at slot: Int) -> Data { knownDeferredBlob(at: slot) ?? Data() }

    /// The deferred blob; nil if it cannot be read, which the context's next fetch and save report.
    @usableFromInline
    func knownDeferredBlob(at slot: Int) -> Data? {
        do {
            return try readBlob(at: slot)
        } catch {
            chunk.fields.pointee.readFailures?.add(
                ReadFailures.Failure(entityIndex: entityIndex, key: key, slot: slot, cause: error)
            )
            return nil
        }
    }

    /// The blob in a slot; empty for other values.
    ///
    /// - Throws: errors of the store for a deferred blob; ``ReadFailures/MissingRow`` if the store no longer has the
    ///   row.
    public func readBlob(at slot: Int) throws -> Data {
        guard tag(at: slot) == .deferredBlob else { return blob(at: slot) }
        let source = chunk.fields.pointee.deferredValues
        guard let blob = try source?.blob(at: slot, key: key, entityIndex: entityIndex) else {
            throw ReadFailures.MissingRow()
        }
        return blob
    }

    /// Whether the slot has a deferred blob that the store held outside the row when the row was read, so that a change of
    /// another slot does not write it.
    public func isStoredApart(at slot: Int) -> Bool {
        tag(at: slot) == .deferredBlob && integer(at: slot) != 0
    }

    /// The UUID in a slot; all zeros unless the value has 16 bytes.
    @inlinable
    public func uuid(at slot: Int) -> UUID {
        withBytes(at: slot) { bytes in
            guard bytes.count == 16 else { return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }

    /// The value in a slot; null if it was not read, or is a deferred blob that cannot be read.
    public func value(at slot: Int) -> Value {
        switch tag(at: slot) {
        case .null, .omitted: .null
        case .integer: .integer(integer(at: slot))
        case .real: .real(real(at: slot))
        case .text: .text(text(at: slot))
        case .blob: .blob(blob(at: slot))
        case .deferredBlob: knownDeferredBlob(at: slot).map(Value.blob) ?? .null
        }
    }

    /// Whether values of the row may be deferred.
    var mayHaveDeferredBlobs: Bool { chunk.fields.pointee.deferredValues != nil }

    /// Whether the value in a slot was read.
    func hasValue(at slot: Int) -> Bool { slot < slotCount && tag(at: slot) != .omitted }

    /// Whether the values in some slots were not read.
    var isPartial: Bool { (0..<slotCount).contains { tag(at: $0) == .omitted } }
}

extension Row {
    /// A row without slots.
    public static let empty: Row = {
        var rows = RowBatchBuilder()
        rows.begin(key: 0, version: 0, entity: 0, slotCount: 0)
        return rows.finish().first { _ in true }!
    }()

    /// A row whose only slot is null, from which the zero of a type is read.
    public static let nullSlot: Row = {
        var rows = RowBatchBuilder()
        rows.begin(key: 0, version: 0, entity: 0, slotCount: 1)
        return rows.finish().first { _ in true }!
    }()
}
