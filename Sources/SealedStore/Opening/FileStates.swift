import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph

/// The states of a store's file that its connections read.
///
/// Other containers and processes add indexes, and write the first text of a column that is not in normalization form
/// C. A statement must fit the state that it runs on: a statement for an older state may miss texts, or name an index
/// that does not exist. All such commits change SQLite's version of the schema. A connection reads this version when it
/// begins a transaction. If the version has changed, the connection reads the metadata of the file again in the same
/// transaction. If it has not, the transaction costs one comparison.
final class FileStates: Sendable {
    /// The state that a connection read last. Only the thread that uses the connection accesses it.
    private final class Seen {
        /// The states of the store that has read this state: a connection serves the stores of a migration's stages in
        /// turn.
        let owner: FileStates
        let version: Int64
        let state: FileState

        init(_ owner: FileStates, version: Int64, state: FileState) {
            self.owner = owner
            self.version = version
            self.state = state
        }
    }

    /// Reads the content of the file for the program's model.
    let reading: StoreReading
    private let uuid: UUID
    private let migrationCount: Int
    /// The plan of the file at the time of opening.
    private let plan: SchemaPlan
    /// The last committed state that any connection has read, for connections that have not read a state yet.
    private let last: Guarded<(version: Int64, state: FileState)?>

    /// - Parameters:
    ///   - content: The content of the file at the time of opening.
    ///   - reading: Reads the content of the file.
    ///   - connection: The connection that has read the content in its current transaction; nil if it is not known.
    init(_ content: FittingContent, _ reading: StoreReading, on connection: Connection? = nil) {
        self.reading = reading
        plan = content.plan
        uuid = content.metadata.uuid
        migrationCount = content.metadata.migrationCount
        last = Guarded(nil)
        guard let version = content.version else { return }
        let state = state(of: content.metadata, plan)
        last.withLock { $0 = (version, state) }
        guard let connection else { return }
        connection.annotate(Seen(self, version: version, state: state))
    }

    /// The state that a connection sees in its current transaction.
    ///
    /// - Throws: ``SealedStoreError`` if the file now belongs to another store, model or schema.
    func state(on connection: Connection) throws -> FileState {
        if let seen = own(connection.annotationOfState) { return seen.state }
        return try newState(on: connection)
    }

    private func own(_ annotation: AnyObject?) -> Seen? {
        guard let seen = annotation as? Seen, seen.owner === self else { return nil }
        return seen
    }

    @inline(never)
    private func newState(on connection: Connection) throws -> FileState {
        let version = try connection.schemaVersion()
        if let seen = own(connection.annotation), seen.version == version {
            connection.annotate(seen)
            return seen.state
        }
        let state: FileState
        if let last = last.withLock({ $0 }), last.version == version {
            state = last.state
        } else {
            state = try read(on: connection)
            // The changes of a write transaction may be rolled back, and another commit may then use the same
            // version again.
            if !connection.isWriting { last.withLock { $0 = (version, state) } }
        }
        connection.annotate(Seen(self, version: version, state: state))
        return state
    }

    /// Checks a file that was opened again.
    ///
    /// - Throws: ``SealedStoreError/otherStore`` if the file holds another store; as ``state(on:)``.
    func verify(on connection: Connection) throws {
        guard try StoreContent.read(on: connection).metadata.uuid == uuid else { throw SealedStoreError.otherStore }
        _ = try read(on: connection)
        // The file may be a copy from an earlier time, whose versions of the schema were used for other states.
        last.withLock { $0 = nil }
    }

    private func read(on connection: Connection) throws -> FileState {
        let content = try StoreContent.read(on: connection)
        let stored = content.metadata
        guard stored.uuid == uuid else { throw SealedStoreError.damagedMetadata("uuid") }
        // This check is the first: after a migration, the tables may fit the model too, with rows and columns that
        // have other names, or be readable through another mapping.
        guard stored.migrationCount == migrationCount else {
            throw SealedStoreError.migratedByAnotherProgram(differences(from: stored))
        }
        // A later version may differ in rules only, so that the tables fit both versions.
        if let newer = reading.laterVersion(of: stored) {
            throw SealedStoreError.migratedByAnotherProgram(["the store is now of version \(newer) of the model"])
        }
        let metadata: StoreMetadataTable
        let current: SchemaPlan
        do {
            (metadata, current) = try reading.fitting(content, on: connection)
        } catch SealedStoreError.modelMismatch(let differences) {
            throw SealedStoreError.migratedByAnotherProgram(differences)
        }
        guard current.sources == plan.sources else {
            throw SealedStoreError.migratedByAnotherProgram(["the indexes of the store have changed"])
        }
        // Declarations that the model does not have may get other names.
        let model = reading.own
        guard metadata.names.limited(to: model) == plan.schema.names.limited(to: model),
            current.hasRows(like: plan)
        else { throw SealedStoreError.damagedMetadata("names") }
        return state(of: metadata, current)
    }

    private func differences(from stored: StoreMetadataTable) -> [String] {
        if case .shape(let differences) = stored.change(to: reading.own) { return differences }
        return plan.sources == nil ? [] : ["the store has got the program's model"]
    }

    /// - Parameter plan: The plan of the state, in which the model has the same tables as at the time of opening.
    private func state(of metadata: StoreMetadataTable, _ plan: SchemaPlan) -> FileState {
        let conditions = FileConditions(
            columnsOfMixedForms: metadata.columnsOfMixedForms,
            missingIndexes: Set(self.plan.schema.names.indexes).subtracting(metadata.names.indexes),
            history: metadata.history?.recording,
            hasLargeValues: metadata.hasLargeValues
        )
        return plan.fileStates.value(for: conditions) { FileState(plan.schema.with(conditions)) }
    }
}
