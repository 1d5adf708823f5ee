public import CSQLCipher

/// A prepared statement. The caller binds parameters, then steps through rows and reads their columns.
///
/// Indices of parameters start at 1 and indices of columns at 0, as in SQLite. Every member costs one C call and
/// nothing else. The statement belongs to one connection, and only the thread that uses the connection uses it. It is
/// finalised when its owner releases it.
///
/// Swift inlines `@inlinable package` members in other modules only if their type is public. This is the only reason
/// why this type, `Connection` and `SQLText` are public: no product of the package exports them.
public struct Statement: ~Copyable {
    @usableFromInline let handle: OpaquePointer
    // A statement never outlives its connection: the connection's cache owns it, or the body of a `withStatement` call
    // on that connection.
    private unowned let connection: Connection

    /// Compiles one statement. Throws for text without a statement (only blanks or comments).
    init(_ sql: String, on connection: Connection, isPersistent: Bool) throws(DatabaseError) {
        var text = sql
        var pointer: OpaquePointer?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        try connection.registerFunctions(for: &text)
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                sqlite3_prepare_v3(
                    connection.handle,
                    bytes.baseAddress,
                    Int32(clamping: bytes.count),
                    flags,
                    &pointer,
                    nil
                )
            }
        }
        guard code == SQLITE_OK else { throw connection.failure(code, during: .preparation) }
        guard let pointer else {
            throw .sqlite(code: SQLITE_MISUSE, extendedCode: SQLITE_MISUSE, message: "the text holds no statement")
        }
        handle = pointer
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement until its next row.
    ///
    /// Returns true at a row, whose columns can then be read until the next call, and false at the end. Throws the
    /// error that SQLite reports: a constraint violation, a full disk, a lock of another process, damage, …
    @inlinable @inline(__always)
    package func step() throws(DatabaseError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Runs a statement that returns no rows, and resets it. The bindings stay.
    @inlinable @inline(__always)
    package func run() throws(DatabaseError) {
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
        sqlite3_reset(handle)
    }

    /// Resets the statement to before its first row. The bindings stay.
    @inlinable @inline(__always)
    package func reset() {
        // The return value repeats the error of the last step, which has thrown it.
        sqlite3_reset(handle)
    }

    /// Sets every parameter to NULL.
    @inlinable @inline(__always)
    package func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    /// The number of parameters: the largest index that can be bound.
    package var parameterCount: Int32 {
        sqlite3_bind_parameter_count(handle)
    }

    /// Whether the statement does not change the database.
    package var isReadOnly: Bool {
        sqlite3_stmt_readonly(handle) != 0
    }

    /// Returns the number of runs of the statement since the last call. The first step after a reset starts a run.
    func takeRunCount() -> Int {
        Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_RUN, 1))
    }

    /// Returns the error for rows that contradict each other although every page has verified, and records the damage.
    @inline(never)
    package func damage() -> DatabaseError {
        connection.noteDamage()
        return .damaged(path: connection.path)
    }

    /// Creates the error for a result code. Out of line, so that the callers stay small.
    @usableFromInline @inline(never)
    func failure(_ code: Int32) -> DatabaseError {
        let error = connection.failure(code, during: .execution)
        sqlite3_reset(handle)
        return error
    }
}
