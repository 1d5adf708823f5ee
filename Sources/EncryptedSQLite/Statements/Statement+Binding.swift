public import CSQLCipher

// A binding keeps its value over `reset()`, until the parameter is bound again or `clearBindings()` is called.
extension Statement {
    /// Binds an integer to a parameter. Indices start at 1.
    @inlinable @inline(__always)
    package func bind(_ value: Int64, at index: Int32) throws(DatabaseError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a floating-point number. SQLite stores NaN as NULL.
    @inlinable @inline(__always)
    package func bind(_ value: Double, at index: Int32) throws(DatabaseError) {
        try check(sqlite3_bind_double(handle, index, value))
    }

    /// Binds NULL.
    @inlinable @inline(__always)
    package func bindNull(at index: Int32) throws(DatabaseError) {
        try check(sqlite3_bind_null(handle, index))
    }

    /// Binds a copy of a text.
    @inlinable @inline(__always)
    package func bind(text: String, at index: Int32) throws(DatabaseError) {
        var text = text
        try check(
            text.withUTF8 { csqlcipher_bind_text_copying(handle, index, $0.baseAddress, UInt64($0.count)) }
        )
    }

    /// Binds a copy of a text in UTF-8. An empty buffer is the empty text, not NULL.
    @inlinable @inline(__always)
    package func bind(text: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_text_copying(handle, index, text.baseAddress, UInt64(text.count)))
    }

    /// Binds a text in UTF-8 without copying it.
    ///
    /// The bytes must stay at their address, unchanged, until the parameter is bound again or the bindings are cleared
    /// (which happens at the end of `withStatement`).
    @inlinable @inline(__always)
    package func bind(staticText text: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_text_static(handle, index, text.baseAddress, UInt64(text.count)))
    }

    /// Binds a copy of a blob. An empty buffer is the empty blob, not NULL.
    @inlinable @inline(__always)
    package func bind(blob: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_blob_copying(handle, index, blob.baseAddress, UInt64(blob.count)))
    }

    /// Binds a blob without copying it.
    ///
    /// The bytes must stay at their address, unchanged, until the parameter is bound again or the bindings are cleared
    /// (which happens at the end of `withStatement`).
    @inlinable @inline(__always)
    package func bind(staticBlob blob: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_blob_static(handle, index, blob.baseAddress, UInt64(blob.count)))
    }

    @inlinable @inline(__always)
    func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }
}
