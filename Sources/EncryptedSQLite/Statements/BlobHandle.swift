import CSQLCipher
package import Foundation

/// A blob in one row of a table, which is read or written in parts.
package struct BlobHandle: ~Copyable {
    private let handle: OpaquePointer
    private unowned let connection: Connection
    /// The number of bytes.
    package let count: Int

    fileprivate init(
        _ connection: Connection,
        _ table: String,
        _ column: String,
        _ key: Int64,
        isWritable: Bool
    ) throws(DatabaseError) {
        var pointer: OpaquePointer?
        let code = sqlite3_blob_open(connection.handle, "main", table, column, key, isWritable ? 1 : 0, &pointer)
        guard code == SQLITE_OK, let pointer else { throw connection.failure(code, during: .execution) }
        handle = pointer
        count = Int(sqlite3_blob_bytes(pointer))
        self.connection = connection
    }

    deinit {
        sqlite3_blob_close(handle)
    }

    /// Reads bytes from an offset.
    package borrowing func read(_ count: Int, at offset: Int) throws -> Data {
        var data = Data(count: count)
        let code = data.withUnsafeMutableBytes { bytes in
            sqlite3_blob_read(handle, bytes.baseAddress, Int32(clamping: bytes.count), Int32(clamping: offset))
        }
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        return data
    }

    /// Writes bytes at an offset. The blob keeps its length.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        let code = sqlite3_blob_write(handle, bytes.baseAddress, Int32(clamping: bytes.count), Int32(clamping: offset))
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
    }
}

extension Connection {
    /// Calls `body` with the blob of a column in the row with a key.
    ///
    /// - Parameters:
    ///   - table: The name of the table, without quotation marks.
    ///   - column: The name of the column, without quotation marks.
    /// - Throws: `DatabaseError` if there is no such row, or its value is no blob; errors of `body`.
    package func withBlob<R>(
        inTable table: String,
        column: String,
        key: Int64,
        isWritable: Bool = false,
        _ body: (borrowing BlobHandle) throws -> R
    ) throws -> R {
        try body(BlobHandle(self, table, column, key, isWritable: isWritable))
    }
}
