public import CSQLCipher

// Columns of the current row. Pointers are valid until the next step or reset, or until the same column is read as
// another type. Reading a value as a type other than the stored one converts it by SQLite's rules.
extension Statement {
    /// The number of columns of a row; 0 for a statement that returns none.
    @inlinable @inline(__always)
    package var columnCount: Int32 {
        sqlite3_column_count(handle)
    }

    /// The storage class of a value. It must be read before the value is read as another type.
    @inlinable @inline(__always)
    package func columnType(_ index: Int32) -> ColumnType {
        ColumnType(rawValue: sqlite3_column_type(handle, index)).unsafelyUnwrapped
    }

    /// Whether a value is NULL.
    @inlinable @inline(__always)
    package func isNull(at index: Int32) -> Bool {
        sqlite3_column_type(handle, index) == SQLITE_NULL
    }

    /// A value as an integer; 0 for NULL.
    @inlinable @inline(__always)
    package func integer(at index: Int32) -> Int64 {
        sqlite3_column_int64(handle, index)
    }

    /// A value as a floating-point number; 0 for NULL.
    @inlinable @inline(__always)
    package func real(at index: Int32) -> Double {
        sqlite3_column_double(handle, index)
    }

    /// The UTF-8 bytes of a text; empty for NULL.
    @inlinable @inline(__always)
    package func text(at index: Int32) -> UnsafeRawBufferPointer {
        // The order matters: SQLite returns the length in the encoding that was requested last.
        let bytes = sqlite3_column_text(handle, index)
        return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, index)))
    }

    /// The bytes of a blob; empty for NULL.
    @inlinable @inline(__always)
    package func blob(at index: Int32) -> UnsafeRawBufferPointer {
        let bytes = sqlite3_column_blob(handle, index)
        return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, index)))
    }

    /// A text as a `String`; empty for NULL. Invalid UTF-8 is repaired.
    @inlinable
    package func string(at index: Int32) -> String {
        String(decoding: text(at: index), as: UTF8.self)
    }
}
