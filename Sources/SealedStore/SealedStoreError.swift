import EncryptedSQLite
import ObjectGraph

/// An error of a ``SealedStore`` beyond the errors of the database.
public enum SealedStoreError: Error, Hashable, Sendable {
    /// The file was created for another model. Contains the differences, one on each line.
    case modelMismatch([String])
    /// The store cannot be migrated to the program's model without losing data. Contains every reason. The file is
    /// unchanged.
    case cannotMigrate([MigrationProblem])
    /// A stage of a migration failed after earlier stages have succeeded: the store has the version of the last of
    /// these stages. Contains that version, or the number of the stage if it has no version, and every reason.
    case stoppedMigration(reached: String, problems: [MigrationProblem])
    /// The store has the model of no version of the plan, and the code of stages would not run on its objects. Contains
    /// the versions to which these stages lead, and the differences from the first version that keeps the store's data,
    /// one on each line. The file is unchanged.
    case skippedStages(stages: [String], differences: [String])
    /// Another program has migrated the store while it was open. Contains the differences from this program's model,
    /// one on each line; none if only data has changed.
    case migratedByAnotherProgram([String])
    /// The operation replaces the file of the store, which is not possible in the code of a migration stage: the code
    /// runs in a transaction on the file. Contains the name of the operation.
    case isMigrating(operation: String)
    /// The store has been written by a program with a later version of the model. The file is unchanged.
    case newerModel(found: String, supported: String)
    /// The key opens the file, but the file does not hold the store that was locked or suspended.
    case otherStore
    /// The key opens the file, but the file is not a store: it has no table `_metadata`.
    case notAStore
    /// The file is a database of this format, but a part of its metadata cannot be read.
    case damagedMetadata(String)
    /// The value of the option for the key is not a key.
    case malformedKey
    /// The value of the option with this name does not have the type of the option.
    case malformedOption(String)
    /// The value of the option with this name has the right type, but the option does not take it.
    case invalidOption(String, reason: String)
    /// A part of a predicate or sort descriptor cannot be translated to SQL.
    case unsupportedQuery(String)
    /// A value of a property cannot be stored exactly: negative zero, if an entity has more than 31 properties of
    /// reals.
    case notRepresentable(property: String)
    /// A schema object of the file is missing or altered, or was not made by the store. Contains its name.
    case foreignSchema(object: String)
    /// A migration rebuilds a table, and the index of this name, which another program has added, cannot be built on
    /// it. The file is unchanged.
    case foreignIndex(String)
    /// Objects cannot be deleted, since objects that are set aside require them: the program's model does not have their
    /// entity. Contains the names of the entity and of the required relationship.
    case requiredBySetAside(entity: String, property: String)
    /// The parts of a value have another length than the value was to have, or a value is too large. Contains both
    /// numbers of bytes.
    case invalidLength(expected: Int, found: Int)
    /// SQLite reported success, but did not write all rows of an entity; the save was rolled back.
    case notWritten(entity: String)
    /// A row contains a value that the store never writes. Contains the entity and the property, or an internal column
    /// of the store.
    case damagedRow(entity: String, property: String)
}

extension SealedStoreError {
    /// The first difference in ``modelMismatch(_:)`` if the file was probably created by another program.
    package static let noCommonEntity = "the store has none of the program's entities"
}

extension SealedStoreError: CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .modelMismatch(let differences):
            (["the file was made for another model:"] + differences.map { "  \($0)" }).joined(separator: "\n")
        case .cannotMigrate(let problems):
            (["the store cannot be migrated, and is unchanged:"] + problems.map { "  \($0)" }).joined(separator: "\n")
        case .stoppedMigration(let reached, let problems):
            (["the store has been migrated to version \(reached), and cannot be migrated further:"]
                + problems.map { "  \($0)" }).joined(separator: "\n")
        case .skippedStages(let stages, let differences):
            ([
                "the store has the model of no version of the migration plan, and the functions of the stages to version "
                    + "\(stages.joined(separator: ", ")) have not run on it; it is unchanged:"
            ]
                + differences.map { "  \($0)" }).joined(separator: "\n")
        case .migratedByAnotherProgram(let differences):
            (["another program has migrated the store: open it again"] + differences.map { "  \($0)" })
                .joined(separator: "\n")
        case .isMigrating(let operation):
            "the code of a migration stage runs in a transaction on the store's file, which cannot be replaced meanwhile: "
                + "call '\(operation)' after the store has been opened"
        case .newerModel(let found, let supported):
            "the store has version \(found) of the model, which is later than this program's version \(supported)"
        case .otherStore: "the file holds another store than before: open it with a new container"
        case .notAStore: "the database is not a store: it has no table '_metadata'"
        case .damagedMetadata(let part): "the store's metadata is damaged: \(part) cannot be read"
        case .malformedKey: "the option '\(SealedStore.keyOption)' takes an EncryptionKey or a passphrase"
        case .malformedOption(let name): "the option '\(name)' does not take a value of this type"
        case .invalidOption(let name, let reason): "the option '\(name)' does not take this value: \(reason)"
        case .unsupportedQuery(let part): "the store does not support this part of a query: \(part)"
        case .notRepresentable(let property): "a value of '\(property)' cannot be stored exactly: it is negative zero"
        case .foreignSchema(let object):
            "the schema of the file is not the one that the store made: '\(object)' is missing, altered or foreign"
        case .foreignIndex(let name):
            "the index '\(name)' of another program cannot be built on the migrated table, and the store is unchanged: "
                + "remove the index, and create it again after the migration"
        case .requiredBySetAside(let entity, let property):
            "objects cannot be deleted: '\(entity).\(property)', which this program's model does not have and which is set "
                + "aside in the store, requires them"
        case .invalidLength(let expected, let found):
            "a value of \(expected) bytes cannot be written from parts of \(found) bytes"
        case .notWritten(let entity): "rows of '\(entity)' were not written, and the save was rolled back"
        case .damagedRow(let entity, let property):
            "a row of '\(entity)' is damaged: '\(property)' holds a value that the store never writes"
        }
    }
}

// MARK: Errors of single rows

// In this file, which a linker takes from a static library because of the errors above.

extension DatabaseError: PartialReadError {
    /// Whether a damaged page with some of the rows can be the cause.
    package var mayConcernSingleRows: Bool {
        switch self {
        case .damaged, .inputOutput: true
        default: false
        }
    }
}

extension SealedStoreError: PartialReadError {
    /// Whether a value in some of the rows is the cause.
    package var mayConcernSingleRows: Bool { if case .damagedRow = self { true } else { false } }
}
