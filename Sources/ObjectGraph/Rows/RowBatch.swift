/// Rows in the order in which a store returned them.
///
/// `@unchecked Sendable`: a batch is a value, whose list of chunks is copied when it changes. The memory of a
/// ``RowChunk`` is written only by the builder that made it, before it returns the chunk in a batch; afterwards all
/// threads only read it. The objects to which its header refers are `Sendable`.
public struct RowBatch: @unchecked Sendable {
    /// The chunks of the rows, which are contiguous in each chunk.
    public private(set) var chunks: [RowChunk]
    /// The number of rows.
    public private(set) var count: Int

    @usableFromInline
    init(chunks: [RowChunk], count: Int) {
        self.chunks = chunks
        self.count = count
    }

    /// A batch without rows.
    public init() {
        chunks = []
        count = 0
    }

    /// Appends the rows of another batch.
    public mutating func append(_ other: RowBatch) {
        chunks += other.chunks
        count += other.count
    }
}

extension RowBatch: Sequence {
    /// An iterator over the rows in their order.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let chunks: [RowChunk]
        @usableFromInline var chunkIndex = 0
        @usableFromInline var rowIndex = 0

        @inlinable
        init(chunks: [RowChunk]) {
            self.chunks = chunks
        }

        /// The next row; nil at the end.
        @inlinable
        public mutating func next() -> Row? {
            while chunkIndex < chunks.count {
                let chunk = chunks[chunkIndex]
                if rowIndex < chunk.rowCount {
                    defer { rowIndex += 1 }
                    return chunk.row(at: rowIndex)
                }
                chunkIndex += 1
                rowIndex = 0
            }
            return nil
        }
    }

    /// Returns an iterator over the rows in their order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(chunks: chunks) }

    /// The number of rows.
    @inlinable
    public var underestimatedCount: Int { count }
}
