import CSQLCipher
import Foundation

/// One connection to a database, with a key in place and its settings made.
///
/// Not `Sendable`: a connection is used by one thread at a time, which borrows it from a `Database`. It must not be
/// carried over a `fork()`: neither process could continue to use it.
///
/// Public for the same reason as `Statement`.
public final class Connection {
    let handle: OpaquePointer
    let statistics: StatisticsCounters
    /// The path that errors name; empty for a database in memory.
    package let path: String
    /// The reason for which the connection runs no further statement, and its pool closes it; nil while it is usable. The
    /// content proved damaged, or the system failed to read it: SQLite may continue after that and report success.
    var defect: DatabaseError?
    /// The file, as the connections of this process know it; nil for a database in memory, and for a file under a
    /// temporary name.
    var sharedFile: SharedFile?
    /// Whether the connection is registered with its ``sharedFile``.
    var hasJoined = false
    /// Whether the database has a write-ahead log, whose index shows each commit.
    var hasLog = false
    /// The number of pages that had been read when all of them were last known to verify.
    var verifiedPagesRead: Int32 = -1
    /// The statement that makes the pager report pages that did not verify.
    var pageRequestStatement: OpaquePointer?
    /// The number of transactions and savepoints that `transaction` has open.
    var transactionDepth = 0
    /// Whether closing this connection, if it is the last one to the file, writes the log back and removes it.
    var writesLogBackOnClose = true
    /// The read transaction that stays open when the connection is returned to its pool; nil if no such transaction is
    /// open.
    var keptTransaction: KeptTransaction?
    /// SQLite's data version at the last look for commits of other connections; nil before the first one.
    var dataVersion: Int64?
    /// Whether the connection is lent inside a read transaction.
    var isReading = false
    // Variables without exclusivity checks: one thread at a time uses the connection, and no access to them calls other
    // code, which could access them again. The checks would only cost time.

    /// The number of the database state that the connection sees. It rises when a transaction begins or is rolled back.
    /// It stays the same while no commit of another connection can become visible.
    @exclusivity(unchecked) var stateNumber = 0
    /// The ``annotation``: other modules of the package would check the access to a stored property.
    @exclusivity(unchecked) private var storedAnnotation: AnyObject?
    /// The ``stateNumber`` of the state in which the annotation was read, or proved to be valid.
    @exclusivity(unchecked) private var annotatedState = 0
    /// The observer of the rows of long results.
    package internal(set) var rowObserver: RowObserver?
    /// The functions that statements can use besides SQLite's own. SQLite holds a pointer to the library.
    var functionLibrary: FunctionLibrary?
    private var areFunctionsRegistered = false
    private var isClosed = false
    @exclusivity(unchecked) private var statements: StatementCache
    /// The layer's own statements, each at its number once it is compiled.
    @exclusivity(unchecked) private var controlStatements: [StatementCache.Entry?] =
        Array(repeating: nil, count: ControlStatement.allCases.count)

    /// Takes ownership of an open connection.
    init(handle: OpaquePointer, path: String, statementCacheLimit: Int, statistics: StatisticsCounters) {
        self.handle = handle
        self.path = path
        self.statistics = statistics
        statements = StatementCache(limit: statementCacheLimit)
    }

    deinit {
        close()
    }

    /// Closes the connection; nothing may be called on it afterwards. Statements must not be in use.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // The system closes the file with the process.
        guard (try? ExitGate.enter()) != nil else { return }
        defer { ExitGate.leave() }
        statements.removeAll()
        controlStatements.removeAll()
        sqlite3_finalize(pageRequestStatement)
        pageRequestStatement = nil
        if let sharedFile {
            let isAtRisk = isDamaged && !sharedFile.hasEmptyLog
            if isAtRisk || !sharedFile.mayWriteLogBackOnClose || isOverwritten { writesLogBackOnClose = false }
            if hasJoined { sharedFile.leave() }
        }
        // SQLite compiles all statements of a connection again after a change of the setting, so it changes only here.
        if !writesLogBackOnClose { csqlcipher_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
        let code = sqlite3_close_v2(handle)
        assert(code == SQLITE_OK)
    }

    /// Writes all of the log into the file. No other connection may use the file.
    ///
    /// Closing the last connection to a file does the same, and reports no error: the log stays beside the file then.
    func writeLogBack() throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }

    // MARK: The annotation

    /// Data that a layer above has read from the database on this connection. A rollback clears it, since it may depend
    /// on changes that were rolled back.
    package var annotation: AnyObject? { storedAnnotation }

    /// The ``annotation`` if it is valid in the state that the connection sees.
    package var annotationOfState: AnyObject? { annotatedState == stateNumber ? storedAnnotation : nil }

    /// Sets the ``annotation``, which is valid in the state that the connection sees.
    package func annotate(_ annotation: AnyObject) {
        storedAnnotation = annotation
        annotatedState = stateNumber
    }

    /// Removes the ``annotation``.
    package func removeAnnotation() { storedAnnotation = nil }

    // MARK: Statements

    /// Runs one or many statements, separated by semicolons, without parameters; rows are skipped.
    ///
    /// The statements are compiled for this call only. Their text must not contain a value.
    package func execute(_ sql: String) throws(DatabaseError) {
        try checkUsable()
        var text = sql
        var runs = 0
        var phase = DatabaseError.Phase.preparation
        try registerFunctions(for: &text)
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    var statement: OpaquePointer?
                    var tail: UnsafePointer<CChar>?
                    phase = .preparation
                    let start = UnsafeBufferPointer(rebasing: rest).baseAddress
                    var code = sqlite3_prepare_v3(handle, start, Int32(clamping: rest.count), 0, &statement, &tail)
                    guard code == SQLITE_OK else { return code }
                    if let statement {
                        runs += 1
                        phase = .execution
                        repeat { code = sqlite3_step(statement) } while code == SQLITE_ROW
                        let finalCode = sqlite3_finalize(statement)
                        guard code == SQLITE_DONE else { return finalCode }
                    }
                    guard let tail, let start, tail > start else { break }
                    rest = rest.dropFirst(tail - start)
                }
                return SQLITE_OK
            }
        }
        statistics.statementsPrepared.count(runs)
        statistics.statementsRun.count(runs)
        guard code == SQLITE_OK else { throw failure(code, during: phase) }
        try verifyPages()
    }

    /// Lends the prepared statement for a text to `body`.
    ///
    /// Statements are compiled once and cached by their text. If the cached statement is in use further up on the
    /// stack, a second statement is compiled. When `body` returns or throws, the statement is reset and its bindings
    /// are cleared.
    ///
    /// The result of `body` depends only on pages that verified. Otherwise the call throws `damaged`, or `inputOutput` if
    /// the system failed to read a page, also in place of an error of `body`, which the zeros in place of a page's content
    /// may have caused. Before `body` returns, it must not pass the values that it reads to any other code.
    @inlinable
    package func withStatement<R>(_ sql: SQLText, _ body: (borrowing Statement) throws -> R) throws -> R {
        let entry = try takeStatement(sql)
        let result: R
        do { result = try body(entry.statement) } catch { throw release(entry, after: error) }
        try release(entry)
        return result
    }

    /// Lends the prepared statement for a text to `body`, as above.
    @inlinable
    package func withStatement<R>(_ sql: String, _ body: (borrowing Statement) throws -> R) throws -> R {
        try withStatement(SQLText(sql), body)
    }

    /// Compiles a statement that runs once, and lends it to `body`, as above.
    package func withUncachedStatement<R>(_ sql: String, _ body: (borrowing Statement) throws -> R) throws -> R {
        try checkUsable()
        let entry = StatementCache.Entry(try Statement(sql, on: self, isPersistent: false), text: SQLText(sql))
        statistics.statementsPrepared.count()
        try beginImplicitTransaction(for: entry)
        defer { finish(entry) }
        let result: R
        do { result = try body(entry.statement) } catch { throw damage(behind: error) }
        try verifyPages()
        return result
    }

    @usableFromInline
    func takeStatement(_ sql: SQLText) throws(DatabaseError) -> StatementCache.Entry {
        try takeOrCompileStatement(sql).entry
    }

    /// Takes a statement from the cache, or compiles it.
    func takeOrCompileStatement(
        _ sql: SQLText
    ) throws(DatabaseError) -> (entry: StatementCache.Entry, isNew: Bool) {
        try checkUsable()
        if let entry = statements.take(sql) {
            do {
                try beginImplicitTransaction(for: entry)
            } catch {
                statements.release(entry)
                throw error
            }
            return (entry, false)
        }
        let entry = StatementCache.Entry(try Statement(sql.text, on: self, isPersistent: true), text: sql)
        statistics.statementsPrepared.count()
        try beginImplicitTransaction(for: entry)
        return (entry, true)
    }

    /// Begins a transaction that lasts until a reading statement is released. Outside a transaction, SQLite would end
    /// the implicit one with the last row, which clears the pager's error state before it can be checked.
    private func beginImplicitTransaction(for entry: StatementCache.Entry) throws(DatabaseError) {
        guard sqlite3_get_autocommit(handle) != 0, isEncrypted, entry.statement.isReadOnly else { return }
        try runControl(.begin)
        entry.hasImplicitTransaction = true
    }

    /// Releases a statement after its body returned.
    @usableFromInline
    func release(_ entry: StatementCache.Entry) throws(DatabaseError) {
        defer { endUse(entry) }
        try verifyPages()
    }

    /// Releases a statement after its body threw, and returns the error to throw.
    @usableFromInline
    func release(_ entry: StatementCache.Entry, after error: any Error) -> any Error {
        defer { endUse(entry) }
        return damage(behind: error)
    }

    private func endUse(_ entry: StatementCache.Entry) {
        finish(entry)
        statements.release(entry)
    }

    private func finish(_ entry: StatementCache.Entry) {
        entry.statement.reset()
        entry.statement.clearBindings()
        statistics.statementsRun.count(entry.statement.takeRunCount())
        guard entry.hasImplicitTransaction else { return }
        entry.hasImplicitTransaction = false
        guard isInTransaction else { return }
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
        // COMMIT may fail on a damaged database.
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Returns the error itself, or `damaged`, `moved` or `inputOutput` if a page did not verify.
    private func damage(behind error: any Error) -> any Error {
        do throws(DatabaseError) {
            try verifyPages()
            return error
        } catch let cause {
            return defect == nil ? error : cause
        }
    }

    /// Registers the functions of the library if a statement may use one and they are not registered yet.
    func registerFunctions(for statement: inout String) throws(DatabaseError) {
        guard !areFunctionsRegistered, let functionLibrary, statement.withUTF8(functionLibrary.isNeeded) else { return }
        areFunctionsRegistered = true
        try functionLibrary.registerFunctions(on: self)
    }

    // MARK: State

    /// The number of rows changed by the last INSERT, UPDATE or DELETE.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The key of the row that the last INSERT has written.
    package var lastInsertedKey: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether SQLite may use temporary files, see ``usingTemporaryFiles(_:)``.
    var usesTemporaryFiles = false
    /// Whether ``usingTemporaryFiles(_:)`` is changing the setting; other statements must not.
    var mayMoveTemporaryData = false

    /// Whether the database is a file, whose pages are encrypted and authenticated.
    var isEncrypted: Bool { !path.isEmpty }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Whether the innermost `write` is a savepoint inside an outer `write`, which may be rolled back.
    package var isInNestedTransaction: Bool { transactionDepth > 1 }

    /// Whether a write transaction is open. It sees its own changes, which may be rolled back.
    package var isWriting: Bool { sqlite3_txn_state(handle, nil) == SQLITE_TXN_WRITE }

    // MARK: The layer's own statements

    /// Runs a statement of the layer. The statistics do not count it.
    func runControl(
        _ control: ControlStatement,
        during phase: DatabaseError.Phase = .execution
    ) throws(DatabaseError) {
        let statement = try controlStatement(control)
        let code = sqlite3_step(statement.statement.handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            let error = failure(code, during: phase)
            statement.statement.reset()
            throw error
        }
        statement.statement.reset()
    }

    /// The first column of the first row of a statement of the layer; 0 without a row.
    func value(of control: ControlStatement) throws(DatabaseError) -> Int64 {
        let statement = try controlStatement(control)
        guard try statement.statement.step() else { return 0 }
        let value = statement.statement.integer(at: 0)
        statement.statement.reset()
        try verifyPages()
        return value
    }

    /// Runs a statement of the layer once, and returns the first value of its first row as text. The statistics do not
    /// count it.
    @discardableResult
    func setting(_ sql: String) throws(DatabaseError) -> String? {
        let statement = try Statement(sql, on: self, isPersistent: false)
        guard try statement.step() else { return nil }
        let value = statement.string(at: 0)
        while try statement.step() {}
        return value
    }

    /// Runs statements of the layer once and skips their rows. The statistics do not count them.
    func runSettings(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }

    private func controlStatement(_ control: ControlStatement) throws(DatabaseError) -> StatementCache.Entry {
        if let defect { throw defect }
        if let entry = controlStatements[control.rawValue] { return entry }
        let sql = control.sql
        let entry = StatementCache.Entry(try Statement(sql, on: self, isPersistent: true), text: SQLText(sql))
        controlStatements[control.rawValue] = entry
        return entry
    }

    // MARK: Failures

    /// Returns the error for a result code that a call on this connection just returned, and records damage.
    ///
    /// If a page did not verify, the error is `damaged` whatever the code is: the page reads as zeros, which can
    /// violate any rule of the schema, and the next statement fails with SQLITE_ERROR.
    func failure(_ code: Int32, during phase: DatabaseError.Phase) -> DatabaseError {
        // The pager reports SQLITE_ERROR with the generic message; statements and functions set a specific one.
        let isOfPager =
            code & 0xff == SQLITE_ERROR && sqlite3_errmsg(handle).map { strcmp($0, sqlite3_errstr(code)) } == 0
        // A virtual table whose own statements fail reports the code without a message, too.
        let mayBeOfVirtualTable = isOfPager && sqlite3_extended_errcode(handle) == SQLITE_ERROR && phase != .preparation
        let error = DatabaseError(code: code, connection: handle, path: path, phase: phase)
        let readError = takeReadError()
        switch error {
        case .damaged:
            return finding(during: phase, readError)
        case .cannotOpen where isOfReplacedFile:
            return .moved(path: path)
        case .busy, .interrupted, .notAuthorized:
            return error
        case .inputOutput where readError != 0:
            defect = error
            return error
        case .damagedIndex where readError != 0:
            return finding(during: phase, readError)
        default:
            // If the transaction has ended, the pager has cleared its error state. A virtual table fails in the same way
            // while a commit writes its changes.
            guard isEncrypted, isInTransaction ? hasUnverifiedPage() : isOfPager && hasReadPages else {
                return mayBeOfVirtualTable ? .damagedIndex(path: path) : error
            }
            return finding(during: phase, readError)
        }
    }

    func checkUsable() throws(DatabaseError) {
        if let defect { throw defect }
        // Some errors make SQLite roll the transaction back. The statements of a body that continues would commit one
        // by one.
        guard transactionDepth == 0 && keptTransaction == nil || sqlite3_get_autocommit(handle) == 0 else {
            throw .transactionRolledBack
        }
    }
}
