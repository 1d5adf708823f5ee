public import CSQLCipher

// A binding keeps its value over `reset()`, until it is bound anew or `clearBindings()` is called.
extension Statement {
    /// Binds an integer to the parameter at an index, which starts at 1.
    @inlinable @inline(__always)
    package func bind(_ value: Int64, at index: Int32) throws(DatabaseError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a floating-point number. SQLite has no NaN: it is stored as NULL.
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

    /// Binds a copy of a text given as UTF-8 bytes. Without bytes it is the empty text, not NULL.
    @inlinable @inline(__always)
    package func bind(text: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_text_copying(handle, index, text.baseAddress, UInt64(text.count)))
    }

    /// Binds a text given as UTF-8 bytes without copying it.
    ///
    /// The bytes must stay where they are, unchanged, until the parameter is bound anew or the bindings are cleared
    /// (which happens at the end of `withStatement`).
    @inlinable @inline(__always)
    package func bind(staticText text: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_text_static(handle, index, text.baseAddress, UInt64(text.count)))
    }

    /// Binds a copy of bytes. Without bytes it is the empty blob, not NULL.
    @inlinable @inline(__always)
    package func bind(blob: UnsafeRawBufferPointer, at index: Int32) throws(DatabaseError) {
        try check(csqlcipher_bind_blob_copying(handle, index, blob.baseAddress, UInt64(blob.count)))
    }

    /// Binds bytes without copying them.
    ///
    /// The bytes must stay where they are, unchanged, until the parameter is bound anew or the bindings are cleared
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
