extension DatabaseError {
    /// The failure in one sentence, without keys or stored values.
    public var description: String {
        switch self {
        case .missingKey(let path):
            "There is no key for the database at \(path): give a passphrase or a raw key, or install a key provider."
        case .invalidKey(.emptyPassphrase):
            "The passphrase is empty: it needs at least one byte."
        case .invalidKey(.trailingZeros):
            "The passphrase ends with a zero byte."
        case .invalidKey(.derivationParameters):
            "The parameters of the key derivation are out of their range."
        case .invalidKey(.rawKeyLength(let count)):
            "A raw key has 32 bytes; \(count) were given."
        case .invalidKey(.missingSalt):
            "The file begins with a plaintext header, and the key does not have the salt of the file."
        case .invalidKey(.saltLength(let count)):
            "A salt has 16 bytes; \(count) were given."
        case .wrongKey(let path):
            "The key does not open the database at \(path)."
        case .fileNotFound(let path):
            "There is no database at \(path)."
        case .emptyFile(let path):
            "The file at \(path) is empty; a database never is."
        case .notADatabase(let path, .plaintextSQLite):
            "The file at \(path) is a SQLite database without encryption."
        case .notADatabase(let path, .shorterThanOnePage):
            "The file at \(path) is too short to be an encrypted database."
        case .notADatabase(let path, .unrecognised):
            "The file at \(path) is not an encrypted database."
        case .foreignApplication(let path, let found, let expected):
            "The database at \(path) belongs to another application (application ID \(found), not \(expected))."
        case .newerFormat(let path, let found, let supported):
            "The database at \(path) has format \(found); this version of the software knows formats up to \(supported)."
        case .damaged(let path):
            "The database at \(path) is damaged."
        case .damagedIndex(let path):
            "An index of the database at \(path) is damaged; the tables are not."
        case .foreignLog(let path):
            "The write-ahead log beside the database at \(path) belongs to another file, or is damaged."
        case .superJournal(let path):
            "The rollback journal at \(path) names a further file, which SQLite would delete after the rollback."
        case .moved(let path):
            "The file at \(path) was deleted, moved, replaced or overwritten while it was open."
        case .hardLinked(let path):
            "The file at \(path) has another name (a hard link), which would get a write-ahead log of its own."
        case .permissionDenied(let path):
            "The system denies access to \(path)."
        case .unwritableFolder(let path, hasLog: false):
            "The database at \(path) cannot be read: its folder cannot be written, and readers share memory in a file there."
        case .unwritableFolder(let path, hasLog: true):
            """
            The database at \(path) cannot be read: a write-ahead log lies beside it, and its folder, in which readers of the \
            log share memory, cannot be written.
            """
        case .cannotOpen(let path, let reason):
            "The database at \(path) cannot be opened: \(reason)."
        case .closed:
            "The database is closed."
        case .locked:
            "The database is locked."
        case .suspended:
            "The database is suspended."
        case .unconfirmedReplacement(let path):
            "The file at \(path) was replaced, and any new key is in force, but the disk has not confirmed it."
        case .noFile:
            "A database in memory has no file and no key."
        case .cipherUnavailable(let reason):
            "The SQLite library in use cannot encrypt: \(reason)."
        case .busy:
            "Another connection or process kept the database locked."
        case .nestedWrite(let path):
            "The calling thread is inside a transaction that writes to the database at \(path) through another container."
        case .readOnly:
            "The database can only be read."
        case .constraint(let violation):
            violation.description
        case .integerOverflow:
            "A computed integer does not fit 64 bits."
        case .malformedPattern:
            "A pattern cannot be understood."
        case .expensivePattern:
            "It takes too long to find out whether a pattern matches a value."
        case .tooBig:
            "A value is longer than SQLite allows."
        case .diskFull:
            "The disk is full."
        case .inputOutput(let code, false):
            "Reading or writing the database failed (SQLite result code \(code))."
        case .inputOutput(let code, true):
            "Committing failed (SQLite result code \(code)); whether the changes were saved shows when the database is opened again."
        case .transactionRolledBack:
            "SQLite rolled the transaction back after an error in it."
        case .notAuthorized:
            "The statement is not allowed on this connection."
        case .interrupted:
            "The statement was interrupted."
        case .sqlite(let code, let extendedCode, let message):
            "\(message) (SQLite result code \(code), extended \(extendedCode))"
        }
    }
}

extension DatabaseError {
    /// The same as `description`.
    public var errorDescription: String? { description }

    /// The remedy for the failure; nil if there is no general one.
    public var recoverySuggestion: String? {
        switch self {
        case .missingKey:
            "Give the passphrase or raw key with the configuration, or install a provider (EncryptionKey.provider) that has it."
        case .invalidKey(.emptyPassphrase):
            "Use a passphrase of at least one byte."
        case .invalidKey(.trailingZeros):
            "Leave out the zero bytes at the end: the passphrase without them opens the same files."
        case .invalidKey(.missingSalt):
            "Give the key the salt with which the file was created: EncryptionKey.withPlaintextHeader(salt:)."
        case .invalidKey(.derivationParameters):
            "Use the defaults of KeyDerivation, or the parameters with which the file was created."
        case .invalidKey:
            "Give 32 bytes as key and 16 or none as salt."
        case .wrongKey:
            "Check the passphrase. The file is unchanged; a copy with every page damaged would look the same."
        case .fileNotFound:
            "Check the path, or allow the database to be created."
        case .emptyFile:
            "Restore the file from a backup, or remove it to start afresh."
        case .notADatabase(_, .plaintextSQLite):
            "Import its content into a new encrypted database."
        case .notADatabase, .foreignApplication:
            "Check the path; the file is unchanged."
        case .newerFormat:
            "Update the software; the file is unchanged."
        case .damaged:
            "Restore the file from a backup. Parts that still verify can be exported."
        case .damagedIndex:
            "Repair the database: its indexes are built anew from the tables."
        case .foreignLog:
            "If the file is a backup, move the file with the suffix -wal away: a backup is complete without it; a restoration does that. Otherwise salvage the database: its last saves are in the log."
        case .superJournal:
            "Remove the journal if you do not know the program that wrote it. Otherwise open the database with that program once: it completes the transaction in all of its databases."
        case .moved:
            "Move the file back to its path, or close the database and open it again. A transaction that was being committed while the file was moved is in the moved file."
        case .hardLinked:
            "Remove the other name, or copy the file and use the copy."
        case .permissionDenied:
            "Check owner and permissions of the file and its folder."
        case .unwritableFolder:
            "Let the process write to the folder, or copy the file and the -wal file beside it to a folder that it can write."
        case .cipherUnavailable:
            "Link SQLCipher 4.5 or newer, and no other SQLite before it."
        case .busy:
            "Try again, or raise the busy timeout; keep write transactions short."
        case .nestedWrite:
            "Write through the container whose transaction is running, which the code of a migration stage receives, or after the transaction has ended."
        case .diskFull:
            "Free disk space and try again."
        case .inputOutput:
            "Try again. If the error comes again, check the disk."
        case .locked:
            "Unlock the container with the key."
        case .suspended:
            "Resume the container first."
        case .unconfirmedReplacement:
            "Keep the old key until the file was opened with the new one after a restart of the system."
        case .noFile, .cannotOpen, .closed, .readOnly, .constraint, .integerOverflow, .malformedPattern,
            .expensivePattern,
            .tooBig,
            .transactionRolledBack,
            .notAuthorized,
            .interrupted,
            .sqlite:
            nil
        }
    }
}

extension ConstraintViolation {
    /// The violated rule, with the names of its table and columns.
    public var description: String {
        let place = table.map { " of table \($0)" } ?? ""
        let list = columns.joined(separator: ", ")
        let named = rule.map { " (\($0))" } ?? ""
        return switch kind {
        case .unique: columns.isEmpty ? "A value must be unique\(named)." : "Values of \(list)\(place) must be unique."
        case .primaryKey: "A row with this primary key\(list.isEmpty ? "" : " (\(list))")\(place) is already there."
        case .notNull: "\(list)\(place) must have a value."
        case .check: "A value breaks a rule of the schema\(named)."
        case .foreignKey: "A referenced row does not exist, or a row is still referenced."
        case .dataType: "A value does not have the type of \(list)\(place)."
        case .other: "A value breaks a rule of the schema (extended result code \(extendedCode))."
        }
    }
}
