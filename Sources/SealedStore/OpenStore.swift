import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph

/// The open database of a ``SealedStore``, with the data that its requests need. ``SealedStore/loadMetadata(of:for:)``
/// creates it.
public final class OpenStore: Sendable {
    let model: ManagedObjectModel
    let configuration: StoreConfiguration
    /// The description of the store, without the key, which only the connections need.
    var description: PersistentStoreDescription { configuration.description }
    let metadata: StoreMetadata

    let database: Database
    /// The schema of the file at its opening. Queries need the schema of the state that they read, see ``FileStates``.
    let schema: StoreSchema
    /// The schema of the file. It differs from ``schema`` if the file is read with another model.
    let fileSchema: StoreSchema
    /// The entities and properties that the opening has set aside.
    private let newlySetAside: [SetAside]
    let statements: EntityStatements
    let states: FileStates
    let deferredBlobs: DeferredBlobs
    let sequences = PrimaryKeySequences()
    let tableSizes = TableSizes()
    let historySelections = HistorySelections()
    let historyTrimming: HistoryTrimming
    let historyCursor = HistoryCursor()
    /// The file that was closed when the store was locked or suspended; nil while it is open.
    let closedFile = Guarded<FileMark?>(nil)
    /// Receives the replacement of the file by another state of the store.
    let replacementReceiver = Guarded<CommitReceiver?>(nil)
    /// Whether the file had a history when it was opened, or the store begins one.
    let hasHistory: Bool
    private let knownExchanged = Guarded<ExchangedProperties?>(nil)
    /// The result of ``mappingFromFile()``.
    let knownMapping = Guarded<ModelMapping?>(nil)
    /// Identifies the transactions of the store in the history of the file.
    let historyOrigin = Int64.random(in: 1 ... .max)
    let scanMonitor: ScanMonitor?
    /// Whether the file has another model, to which it is not migrated.
    let readsOtherModel: Bool
    /// Whether closing the store closes the database. The store of a migration stage works in a transaction of another
    /// store's database.
    let ownsDatabase: Bool

    /// The identity of the store.
    var uuid: UUID { metadata.uuid }
    /// The part of the model that the store holds.
    var own: ManagedObjectModel { states.reading.own }

    init(
        _ database: Database,
        _ content: FittingContent,
        _ states: FileStates,
        newlySetAside: [SetAside] = [],
        ownsDatabase: Bool = true
    ) {
        let (plan, configuration) = (content.plan, states.reading.configuration)
        self.configuration = configuration
        metadata = StoreMetadata(
            uuid: content.metadata.uuid,
            type: configuration.description.type,
            formatVersion: content.metadata.formatVersion
        )
        self.database = database
        self.ownsDatabase = ownsDatabase
        self.states = states
        schema = plan.schema
        fileSchema = plan.fileSchema
        self.newlySetAside = newlySetAside
        model = schema.model
        statements = plan.statements
        deferredBlobs = DeferredBlobs(database, schema, states)
        // A table that is read through a subquery has no name.
        scanMonitor = plan.sources != nil ? nil : configuration.scanWarnings.map(ScanMonitor.init)
        readsOtherModel = plan.sources != nil
        hasHistory = content.metadata.history != nil || configuration.history != nil
        historyTrimming = HistoryTrimming(configuration.history)
    }

    /// The properties whose values change sets contain, which are collected once.
    var exchanged: ExchangedProperties {
        knownExchanged.withLock { known in
            let exchanged = known ?? ExchangedProperties(model)
            known = exchanged
            return exchanged
        }
    }

    /// Runs `body` in a transaction on a file whose schema is the store's, and rolls the transaction back if it throws.
    /// The error of a violated unique index names entity and properties of the model.
    func writeTransaction<R>(isBulk: Bool = false, _ body: (Connection) throws -> R) throws -> R {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        do {
            var written: [ClosedRange<Int64>] = []
            let result = try throwingQueryErrors {
                try database.write(isBulk: isBulk) { connection in
                    // Since the last check, another program may have made a trigger or view that could change or lose
                    // the written rows.
                    _ = try states.state(on: connection)
                    let isNested = connection.isInNestedTransaction
                    let result = try historyCursor.writing(isNested: isNested) { try body(connection) }
                    if !isNested { written = historyCursor.takeWritten() }
                    return result
                }
            }
            historyCursor.noteCommit(of: written)
            return result
        } catch DatabaseError.constraint(let violation) where violation.kind == .unique {
            throw fileSchema.notUnique(violation)
        }
    }

    /// Reports the transactions that the opening of the file has not found in its log. No lock may be held, since the
    /// program handles the report.
    func reportLogLoss() {
        guard ownsDatabase, let loss = database.takeLogLoss() else { return }
        let path = description.url?.path ?? ""
        let number = loss.commitCount == 0 ? "an unknown number" : "\(loss.commitCount)"
        let copy = loss.copyPath.map { "; a copy of the log is at \($0)" } ?? ""
        RuntimeIssues.report(
            """
            the store at \(path) has lost its last saves: its log is incomplete, as after a power failure, and \(number) \
            of its transactions lie behind the gap\(copy)
            """
        )
    }

    /// Reports the entities and properties that the opening has set aside.
    func reportSetAside() {
        guard !newlySetAside.isEmpty else { return }
        RuntimeIssues.report(
            """
            the model of the program does not have \(newlySetAside.map { "'\($0)'" }.joined(separator: ", ")), which the \
            store at \(description.url?.path ?? "") holds: it is set aside, and comes back with a model that has it
            """
        )
    }

    /// The schema of everything that the tables hold in the state of a connection; the schema of the opening if the
    /// file is read with another model.
    func schemaOfFile(on connection: Connection) throws -> StoreSchema {
        readsOtherModel ? fileSchema : try states.state(on: connection).schema.ofFile
    }

    /// - Throws: ``SealedStoreError/isMigrating(operation:)`` for the store of a migration stage: the transaction of the
    ///   stage would have to end before its file can be replaced.
    func requireOwnDatabase(for operation: String) throws {
        guard ownsDatabase else { throw SealedStoreError.isMigrating(operation: operation) }
    }

    /// Runs `body`, and throws errors of functions in its statements as `QueryError`.
    func throwingQueryErrors<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch DatabaseError.integerOverflow {
            throw QueryError.arithmeticOverflow
        } catch DatabaseError.malformedPattern {
            throw QueryError.malformedPattern
        } catch DatabaseError.expensivePattern {
            throw QueryError.expensivePattern
        }
    }
}

extension StoreSchema {
    /// The error for a violated unique index, with the names of the model.
    fileprivate func notUnique(_ violation: ConstraintViolation) -> any Error {
        let name = violation.table.map(SQL.quoted)
        guard let entity = model.entities.first(where: { $0.isRoot && table(of: $0).name == name }) else {
            return DatabaseError.constraint(violation)
        }
        let columns = Set(violation.columns.map(SQL.quoted))
        let properties = table(of: entity).columns.filter { columns.contains($0.name) }.map(\.property.name)
        return SaveConflict.notUnique(entity: entity.name, properties: properties)
    }
}
