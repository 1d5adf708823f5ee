import CSQLCipher
import Foundation

extension DatabaseError {
    /// The operation that failed. It decides which part of SQLite's message can be shown.
    enum Phase {
        /// Compiling a statement: the message contains names and syntax.
        case preparation
        /// Running a statement: the message may quote values.
        case execution
        /// Committing a transaction: an I/O error leaves open whether it was committed.
        case commit
    }

    /// Creates the error for a result code, with details from the connection that just returned it.
    init(code: Int32, connection: OpaquePointer?, path: String, phase: Phase) {
        let extendedCode = connection.map { sqlite3_extended_errcode($0) } ?? code
        // The message belongs to the last failed call. If that was another call, its details would mislead.
        let isCurrent = extendedCode & 0xff == code & 0xff
        let detailedCode = isCurrent ? extendedCode : code
        switch code & 0xff {
        case SQLITE_CONSTRAINT where isCurrent && Self.hasGeneralMessage(SQLITE_CONSTRAINT, connection):
            // SQLite names the rule that a row of a table violates. A virtual table names no rule: one of its own
            // tables already has the row that it writes.
            self = .damagedIndex(path: path)
        case SQLITE_CONSTRAINT:
            let message = connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? ""
            self = .constraint(ConstraintViolation(extendedCode: detailedCode, message: isCurrent ? message : ""))
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .busy
        // SQLITE_READONLY_DBMOVED, a macro with a shift, which Swift does not import.
        case SQLITE_READONLY where detailedCode == SQLITE_READONLY | 4 << 8:
            self = .moved(path: path)
        case SQLITE_READONLY:
            self = .readOnly
        case SQLITE_TOOBIG:
            self = .tooBig
        case SQLITE_FULL:
            self = .diskFull
        case SQLITE_IOERR where isCurrent && Self.isOfFullDisk(detailedCode, connection, phase):
            self = .diskFull
        case SQLITE_IOERR where Self.codesOfMissingContent.contains(detailedCode):
            self = .damaged(path: path)
        case SQLITE_IOERR:
            self = .inputOutput(extendedCode: detailedCode, isIndeterminate: phase == .commit)
        case SQLITE_CORRUPT where Self.codesOfDamagedIndex.contains(detailedCode):
            self = .damagedIndex(path: path)
        case SQLITE_ERROR where isCurrent && Self.isOfVirtualTable(connection, phase):
            self = .damagedIndex(path: path)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self = .damaged(path: path)
        case SQLITE_AUTH:
            self = .notAuthorized
        case SQLITE_INTERRUPT:
            self = .interrupted
        case SQLITE_PERM:
            self = .permissionDenied(path: path)
        case SQLITE_CANTOPEN where isCurrent && Self.hasFullDisk(connection):
            self = .diskFull
        case SQLITE_CANTOPEN:
            self = .cannotOpen(path: path, reason: Self.generalMessage(detailedCode))
        default:
            if isCurrent, let connection, Self.isRefusedFunction(connection) {
                self = .notAuthorized
                return
            }
            if let error = Self.functionError(detailedCode, isCurrent ? connection : nil) {
                self = error
                return
            }
            var message = Self.generalMessage(detailedCode)
            if isCurrent, phase == .preparation, let connection { message = Self.preparationMessage(of: connection) }
            self = .sqlite(code: code & 0xff, extendedCode: detailedCode, message: message)
        }
    }

    /// SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC.
    private static let codesOfSynchronization = [4, 5].map { SQLITE_IOERR | $0 << 8 }

    /// SQLITE_IOERR_WRITE, _TRUNCATE, _SHMOPEN, _SHMSIZE, _SHMMAP and _MMAP.
    private static let codesOfWriting = [3, 6, 18, 19, 21, 24].map { SQLITE_IOERR | $0 << 8 }

    /// Whether a call that writes failed for lack of room. SQLite reports only a write(2) that found the disk full as
    /// SQLITE_FULL; it does not do so for an exceeded quota, for the index of the log and for fsync(2), with which some
    /// file systems report that earlier writes found no room.
    ///
    /// After a failed fsync(2), it is open whether a commit is on the disk.
    private static func isOfFullDisk(_ code: Int32, _ connection: OpaquePointer?, _ phase: Phase) -> Bool {
        guard codesOfWriting.contains(code) || codesOfSynchronization.contains(code) && phase != .commit else {
            return false
        }
        return hasFullDisk(connection)
    }

    /// Whether the last failed call to the operating system found the disk full or a quota exceeded.
    private static func hasFullDisk(_ connection: OpaquePointer?) -> Bool {
        connection.map { [ENOSPC, EDQUOT].contains(sqlite3_system_errno($0)) } ?? false
    }

    /// SQLITE_IOERR_READ.
    static let readFailureCode = SQLITE_IOERR | 1 << 8

    /// SQLITE_IOERR_SHORT_READ (a file ends before its content does) and SQLITE_IOERR_DATA.
    private static let codesOfMissingContent = [2, 32].map { SQLITE_IOERR | $0 << 8 }

    /// SQLITE_CORRUPT_VTAB, and SQLITE_CORRUPT_INDEX (a changed row is missing from an index).
    private static let codesOfDamagedIndex = [1, 3].map { SQLITE_CORRUPT | $0 << 8 }

    /// Whether a general error comes from a virtual table that finds its own tables damaged: FTS5 does not know the
    /// format or the ranking function that is recorded in them, or the tables are missing.
    private static func isOfVirtualTable(_ connection: OpaquePointer?, _ phase: Phase) -> Bool {
        guard let connection, let message = sqlite3_errmsg(connection) else { return false }
        let text = String(cString: message)
        // A statement that names an unknown function fails when it is compiled.
        let ofRunning = phase == .execution ? ["no such function", "parse error in rank function"] : []
        let beginnings = ["invalid fts5 file format", "vtable constructor failed", "undersize RTree blobs"] + ofRunning
        return beginnings.contains {
            text.range(of: $0, options: .caseInsensitive)?.lowerBound == text.startIndex
        }
    }

    /// Whether the message of the last failed call is SQLite's fixed text for a result code.
    private static func hasGeneralMessage(_ code: Int32, _ connection: OpaquePointer?) -> Bool {
        connection.flatMap { sqlite3_errmsg($0) }.map { strcmp($0, sqlite3_errstr(code)) == 0 } ?? false
    }

    /// SQLite's fixed English text for a result code.
    static func generalMessage(_ code: Int32) -> String {
        String(cString: sqlite3_errstr(code))
    }

    /// Whether a statement was refused because of a function in it, which SQLite reports as a general error.
    private static func isRefusedFunction(_ connection: OpaquePointer) -> Bool {
        String(cString: sqlite3_errmsg(connection)).hasPrefix("not authorized to use function")
    }

    /// The error that a function in a statement threw. SQLite's own functions report an overflow by their message only.
    private static func functionError(_ code: Int32, _ connection: OpaquePointer?) -> DatabaseError? {
        switch FunctionFailure(resultCode: code) {
        case .integerOverflow: return .integerOverflow
        case .malformedPattern: return .malformedPattern
        case .expensivePattern: return .expensivePattern
        case .other:
            return .sqlite(code: SQLITE_ERROR, extendedCode: SQLITE_ERROR, message: generalMessage(SQLITE_ERROR))
        case nil: break
        }
        guard code == SQLITE_ERROR, let connection, strcmp(sqlite3_errmsg(connection), "integer overflow") == 0 else {
            return nil
        }
        return .integerOverflow
    }

    /// The message of a failed compilation, without the quotations from the statement.
    private static func preparationMessage(of connection: OpaquePointer) -> String {
        var message = String(cString: sqlite3_errmsg(connection))
        if let first = message.firstIndex(where: { $0 == "\"" || $0 == "'" }),
            let last = message.lastIndex(where: { $0 == "\"" || $0 == "'" })
        {
            message.replaceSubrange(first...last, with: "…")
        }
        let offset = sqlite3_error_offset(connection)
        return offset < 0 ? message : "\(message) (at byte \(offset) of the statement)"
    }
}
