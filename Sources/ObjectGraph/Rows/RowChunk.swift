/// A block of memory that many rows share.
///
/// Rows are contiguous from the start; the offsets of the rows, in words of eight bytes, are stored at the end, the
/// first row's offset last. The layout of a row:
///
/// | words | content |
/// |---|---|
/// | 1 | the primary key |
/// | 1 | the version in the lower half, the entity's index and the number of slots in the upper half |
/// | n | the slots: an integer, a real, or position (bytes from the row's start) and length of text or blob |
/// | ⌈n/8⌉ | one tag byte for each slot: ``Row/Tag`` |
/// | … | the texts and blobs |
///
/// Chunks are small, so that one row in use does not retain a whole result. A row that is larger than a chunk gets a
/// separate one.
///
/// Only the `RowBatchBuilder` that made a chunk writes to it, and only before it returns the chunk in a batch. Until
/// then no other code has a reference; from then on the memory and the header are constant, so that threads can share
/// rows. The class itself cannot be `Sendable`, since the standard library excludes that for all subclasses of
/// `ManagedBuffer`.
public final class RowChunk: ManagedBuffer<RowChunk.Header, UInt64> {
    /// The properties of a chunk.
    public struct Header {
        @usableFromInline var capacity: UInt32
        @usableFromInline var used: UInt32
        @usableFromInline var rowCount: UInt32
        /// The source of the rows' deferred blobs.
        @usableFromInline var deferredValues: (any DeferredValueSource)?
        /// The list to which an unreadable deferred value is reported.
        @usableFromInline var readFailures: ReadFailures?

        @inlinable
        init(capacity: UInt32) {
            self.capacity = capacity
            used = 0
            rowCount = 0
        }
    }

    /// The usual capacity in words: 64 KB.
    @inlinable static var standardCapacity: Int { 8192 - 8 }
    /// The capacity of a batch's first chunk in words: half a KB.
    @inlinable static var smallestCapacity: Int { 64 - 8 }

    /// The chunk of builders that have no row yet.
    ///
    /// `nonisolated(unsafe)`: the reference is a constant, and nothing writes to the chunk after it was made, so that all
    /// threads only read its header. A row needs at least the words of its header, and the chunk has none: a builder
    /// replaces it before it writes the first word, and sets the header of chunks that it has made itself only.
    @usableFromInline nonisolated(unsafe) static let empty = make(words: 0)

    @inlinable
    static func make(words: Int) -> RowChunk {
        let chunk = RowChunk.create(minimumCapacity: words) { _ in Header(capacity: UInt32(words)) }
        return unsafeDowncast(chunk, to: RowChunk.self)
    }

    /// The first word.
    @inlinable
    var base: UnsafeMutablePointer<UInt64> {
        withUnsafeMutablePointerToElements { $0 }
    }

    /// The address of the header. Every access through `header` would have a dynamic exclusivity check.
    @inlinable
    var fields: UnsafeMutablePointer<Header> {
        withUnsafeMutablePointerToHeader { $0 }
    }

    /// The number of rows.
    @inlinable
    public var rowCount: Int { Int(fields.pointee.rowCount) }

    /// The row at a position.
    @inlinable
    public func row(at index: Int) -> Row {
        precondition(index >= 0 && index < rowCount, "there is no row at this position")
        return Row(chunk: self, offset: offset(at: index))
    }

    @inlinable
    func offset(at index: Int) -> UInt32 {
        UnsafeMutableRawPointer(base + Int(fields.pointee.capacity))
            .load(fromByteOffset: -4 * (index + 1), as: UInt32.self)
    }
}
