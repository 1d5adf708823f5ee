/// What can go wrong between the program and its encrypted database file.
///
/// No case and no message carries a key, a stored value or SQL with values in it.
public enum DatabaseError: Error, Equatable, Sendable {
    // MARK: Keys

    /// A database file was to be opened without a key. There is no plaintext mode for files.
    case missingKey(path: String)
    /// The key cannot be a key: the passphrase is empty or ends with zero bytes, or a raw key or salt has the wrong length.
    case invalidKey(InvalidKey)
    /// The file is an encrypted database, as far as can be told, and this key does not open it. The file is unchanged.
    ///
    /// A file whose every page is damaged looks the same, and so does one encrypted with other settings than those of
    /// SQLCipher 4.
    case wrongKey(path: String)

    // MARK: Files

    /// There is no file at the path, and none was to be created.
    case fileNotFound(path: String)
    /// The file has no content at all, which no database of ours ever has.
    case emptyFile(path: String)
    /// The file is something other than an encrypted database.
    case notADatabase(path: String, ForeignFile)
    /// The file is a database that this key opens, but another application's.
    case foreignApplication(path: String, found: Int32, expected: Int32)
    /// The file was written by a newer version of the software. It is unchanged.
    case newerFormat(path: String, found: Int32, supported: Int32)
    /// The key is right, but the content does not verify or contradicts itself.
    case damaged(path: String)
    /// The file was deleted or moved while it was open, or another file took its place. The transaction
    /// that throws this wrote nothing. One that was being committed while the file was moved is in the moved file.
    case moved(path: String)
    /// The operating system does not let this process read or write the file or its folder.
    case permissionDenied(path: String)
    /// The folder of the file cannot be written, so that there is no place for the memory that readers of a write-ahead log
    /// share. `hasLog` says whether a log with content lies beside the file.
    case unwritableFolder(path: String, hasLog: Bool)
    /// The file cannot be opened for another reason.
    case cannotOpen(path: String, reason: String)

    // MARK: Running

    /// The database was closed.
    case closed
    /// The library in use is not SQLCipher, or was built in a way that writes plaintext to temporary files.
    case cipherUnavailable(reason: String)
    /// Another connection or process held a lock for longer than the busy timeout.
    case busy
    /// The database, or the connection in use, only allows reading.
    case readOnly
    /// A rule of the schema was broken; the statement had no effect.
    case constraint(ConstraintViolation)
    /// A sum of integers, or the magnitude of one, does not fit 64 bits.
    case integerOverflow
    /// A pattern that a statement looks for cannot be understood.
    case malformedPattern
    /// It takes too long to find out whether a pattern matches a value.
    case expensivePattern
    /// A value is longer than SQLite allows (1,000,000,000 bytes by default).
    case tooBig
    /// The disk is full; the transaction was rolled back.
    case diskFull
    /// Reading or writing failed.
    ///
    /// When `isIndeterminate`, the failure hit a commit: the transaction may or may not be there when the database is
    /// opened again.
    case inputOutput(extendedCode: Int32, isIndeterminate: Bool)
    /// SQLite rolled the transaction back after an earlier error in it, which the program did not pass on.
    case transactionRolledBack
    /// The statement is one that this layer refuses, such as attaching a file or changing the key.
    case notAuthorized
    /// The program asked SQLite to stop.
    case interrupted
    /// Anything else, with SQLite's primary and extended result code.
    case sqlite(code: Int32, extendedCode: Int32, message: String)

    /// Why something cannot be a key.
    public enum InvalidKey: Equatable, Sendable {
        /// A passphrase without a single byte.
        case emptyPassphrase
        /// A passphrase of at most 128 bytes that ends with a zero byte. The key derivation cannot tell it from the same
        /// passphrase without the zero bytes.
        case trailingZeros
        /// A raw key has 32 bytes.
        case rawKeyLength(Int)
        /// A salt has 16 bytes.
        case saltLength(Int)
    }

    /// What was found instead of an encrypted database.
    public enum ForeignFile: Equatable, Sendable {
        /// A SQLite database that is not encrypted.
        case plaintextSQLite
        /// Fewer bytes than one page of 4096.
        case shorterThanOnePage
        /// Content that does not look encrypted, or whose length no database can have.
        case unrecognised
    }
}

/// The rule of the schema that a statement broke.
public struct ConstraintViolation: Equatable, Sendable {
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
        /// A trigger, a virtual table, or a rule SQLite does not name.
        case other
    }

    /// The kind of rule.
    public let kind: Kind
    /// The table, where SQLite names it.
    public let table: String?
    /// The columns, where SQLite names them, in the order of the rule.
    public let columns: [String]
    /// The name of the CHECK rule or index, where SQLite names it.
    public let rule: String?
    /// SQLite's extended result code.
    public let extendedCode: Int32
}
