public import Foundation

/// The failures of access to an encrypted database file.
///
/// No case and no message contains a key, a stored value or SQL with values.
public enum DatabaseError: LocalizedError, CustomStringConvertible, Equatable, Sendable {
    // MARK: Keys

    /// A database file was opened without a key. There is no plaintext mode for files.
    case missingKey(path: String)
    /// The key is not valid: the passphrase is empty or ends with zero bytes, or a raw key or salt has the wrong
    /// length.
    case invalidKey(InvalidKey)
    /// The file appears to be an encrypted database, and this key does not open it. The file is unchanged.
    ///
    /// A file in which every page is damaged looks the same, and so does a file that is encrypted with other settings
    /// than SQLCipher 4 uses.
    case wrongKey(path: String)

    // MARK: Files

    /// The path has no file, and the options do not allow creating one.
    case fileNotFound(path: String)
    /// The file is empty. A database is never empty.
    case emptyFile(path: String)
    /// The file is not an encrypted database.
    case notADatabase(path: String, ForeignFile)
    /// This key opens the file, but the file belongs to another application.
    case foreignApplication(path: String, found: Int32, expected: Int32)
    /// The file was written by a newer version of the software. It is unchanged.
    case newerFormat(path: String, found: Int32, supported: Int32)
    /// The key is right, but the content does not verify or contradicts itself.
    case damaged(path: String)
    /// An index contradicts itself or its table. The content of an index is derived from its table, which is intact: a
    /// repair builds the index anew.
    case damagedIndex(path: String)
    /// The write-ahead log beside the file has pages that do not verify with the key of the file: it belongs to another
    /// file, in whose place this one was put. Or bytes of the log have changed since it was written, and transactions
    /// would be lost. Both files are unchanged.
    ///
    /// If the file is a backup, move the log (the file with the suffix `-wal`) away: a backup is complete without a
    /// log. A log of a file with the same key and the same salt is not recognised, and is applied to the file: a plain
    /// copy of a file has its salt, while a backup has a new one, unless its key names the salt. A restoration
    /// (`ModelContainer.restore`) removes the log in any case.
    case foreignLog(path: String)
    /// The rollback journal beside the file names a super-journal, the file of a transaction in several databases.
    /// SQLite deletes that file after the rollback, whichever file it is. The path names the journal. No file has changed.
    ///
    /// No journal of this package names a super-journal.
    case superJournal(path: String)
    /// A file of the database was deleted or moved while it was open, or another file took its place: the database file
    /// itself, its write-ahead log (`-wal`), or the index of the log (`-shm`). The path names the file. The transaction
    /// that throws this wrote nothing. A transaction that was being committed while the file was moved is in the moved
    /// file.
    ///
    /// The database file also counts as replaced if another program overwrote its content in place (`cp` does), with a
    /// file that has another salt, or another first page than the last checkpoint has left. The log is not written into
    /// it.
    case moved(path: String)
    /// The file has another name, a hard link. SQLite names the write-ahead log after the name of a file, so that two
    /// names lead to two logs, which destroy the file and each other's saves. The file is unchanged.
    case hardLinked(path: String)
    /// The operating system does not let this process read or write the file or its folder.
    case permissionDenied(path: String)
    /// The folder of the file cannot be written, so the shared memory for readers of the write-ahead log cannot be
    /// created. `hasLog` is true if a log with content is beside the file.
    case unwritableFolder(path: String, hasLog: Bool)
    /// The file cannot be opened for another reason.
    case cannotOpen(path: String, reason: String)

    // MARK: Running

    /// The database was closed.
    case closed
    /// The database is locked: its connections are closed and its key is overwritten, until it is unlocked with the
    /// key.
    case locked
    /// The database is suspended: its connections are closed until it is resumed.
    case suspended
    /// The file was replaced, by a file with the new key if the key was to be changed, and the database uses the new
    /// file. The disk has not confirmed the replacement: after a power failure, the old file with the old key can be at
    /// the path.
    case unconfirmedReplacement(path: String)
    /// A database in memory has no file and no key.
    case noFile
    /// The library in use is not SQLCipher, or its build writes plaintext to temporary files.
    case cipherUnavailable(reason: String)
    /// Another connection or process held a lock for longer than the busy timeout.
    case busy
    /// The calling thread is inside a write transaction of another open database with the same file, which would have to
    /// end before this one can begin. The code of a migration stage runs inside such a transaction.
    case nestedWrite(path: String)
    /// The database, or the connection in use, is read-only.
    case readOnly
    /// A statement violated a rule of the schema, and had no effect.
    case constraint(ConstraintViolation)
    /// A sum of integers, or its magnitude, does not fit in 64 bits.
    case integerOverflow
    /// A pattern in a statement is not valid.
    case malformedPattern
    /// Matching a pattern against a value takes too long.
    case expensivePattern
    /// A value is longer than SQLite allows (1,000,000,000 bytes by default).
    case tooBig
    /// The disk is full; the transaction was rolled back.
    case diskFull
    /// The system failed to read or write a file. The next statement begins afresh.
    ///
    /// If `isIndeterminate` is true, a commit failed: its transaction may or may not exist when the database is opened
    /// again.
    case inputOutput(extendedCode: Int32, isIndeterminate: Bool)
    /// SQLite rolled the transaction back after an earlier error in it, which the program did not rethrow.
    case transactionRolledBack
    /// The statement is not allowed, for example because it attaches a file or changes the key.
    case notAuthorized
    /// The program interrupted the statement.
    case interrupted
    /// Any other failure, with SQLite's primary and extended result code.
    case sqlite(code: Int32, extendedCode: Int32, message: String)

    /// The reason for which a key is not valid.
    public enum InvalidKey: Equatable, Sendable {
        /// A passphrase without bytes.
        case emptyPassphrase
        /// A passphrase of at most 128 bytes that ends with a zero byte. The key derivation cannot distinguish it from
        /// the same passphrase without the zero bytes.
        case trailingZeros
        /// The parameters of the key derivation are out of their range.
        case derivationParameters
        /// A raw key that does not have 32 bytes.
        case rawKeyLength(Int)
        /// The file has a plaintext header, and the key does not have the salt of the file.
        case missingSalt
        /// A salt that does not have 16 bytes.
        case saltLength(Int)
    }

    /// The content of a file that is not an encrypted database.
    public enum ForeignFile: Equatable, Sendable {
        /// A SQLite database that is not encrypted.
        case plaintextSQLite
        /// Fewer bytes than one page of 4096 bytes.
        case shorterThanOnePage
        /// Content that does not look encrypted, or that has a length no database can have.
        case unrecognised
    }
}

/// The rule of the schema that a statement violated.
public struct ConstraintViolation: CustomStringConvertible, Equatable, Sendable {
    /// The kinds of rules.
    public enum Kind: Equatable, Sendable {
        /// A unique index or UNIQUE column.
        case unique
        /// A primary key.
        case primaryKey
        /// A NOT NULL column.
        case notNull
        /// A CHECK expression.
        case check
        /// A foreign key.
        case foreignKey
        /// The declared type of a column in a STRICT table.
        case dataType
        /// A trigger, a virtual table, or a rule that SQLite does not name.
        case other
    }

    /// The kind of rule.
    public let kind: Kind
    /// The table, if SQLite names it.
    public let table: String?
    /// The columns in the order of the rule, if SQLite names them.
    public let columns: [String]
    /// The name of the CHECK rule or index, if SQLite names it.
    public let rule: String?
    /// SQLite's extended result code.
    public let extendedCode: Int32
}
