import EncryptedSQLite
import Foundation
public import ObjectGraph
import Guarded

/// A store of objects in an encrypted SQLCipher file, or in memory.
///
/// ```swift
/// SealedStore.register()
/// let coordinator = PersistentStoreCoordinator(model: model)
/// try coordinator.addPersistentStore(
///     PersistentStoreDescription(
///         type: SealedStore.storeType, url: url,
///         options: [SealedStore.keyOption: EncryptionKey.passphrase("correct horse battery staple")]))
/// ```
///
/// A program can inherit from the class and register its own under another type.
open class SealedStore: IncrementalStore, @unchecked Sendable {
    // Sound because the properties are constants of `Sendable` types; a subclass that adds state guards it itself.

    /// The type under which ``register()`` registers the class.
    public static let storeType = "SQLCipher"
    /// The option that holds the key: an `EncryptionKey`, or a passphrase as a `String`.
    public static let keyOption = "key"
    /// The option that holds ``ScanWarnings``.
    public static let scanWarningsOption = "scanWarnings"

    /// The model.
    public let model: ManagedObjectModel
    /// Which store this is.
    public let description: PersistentStoreDescription

    let layout: OpenedOnce<Layout>
    let sequences = PrimaryKeySequences()

    /// What is known once the store is open.
    final class Layout: Sendable {
        let database: Database
        /// The schema as the file was opened; queries need that of the state that they read, see ``FileStates``.
        let schema: StoreSchema
        let statements: EntityStatements
        let states: FileStates
        let uuid: UUID
        let deferredBlobs: DeferredBlobs
        let fetchStatements = FetchStatementCache()
        let tableSizes = TableSizes()
        let scanMonitor: ScanMonitor?

        init(_ opened: StoreOpening.Opened, scanMonitor: ScanMonitor?) {
            database = opened.database
            schema = opened.layout.schema
            statements = opened.layout.statements
            states = opened.states
            uuid = opened.uuid
            deferredBlobs = DeferredBlobs(opened.database, opened.layout.schema)
            self.scanMonitor = scanMonitor
            for entity in schema.model.entities where entity.isRoot {
                guard let next = opened.nextKeys[entity.name] else { continue }
                tableSizes.note(lastKey: next &- 1, rootIndex: entity.index)
            }
        }
    }

    /// Makes a store, without opening it.
    public required init(model: ManagedObjectModel, description: PersistentStoreDescription) throws {
        self.model = model
        self.description = description
        layout = OpenedOnce()
    }

    /// Makes the class known to coordinators under ``storeType``.
    public static func register() {
        PersistentStoreCoordinator.registerStoreClass(SealedStore.self, type: storeType)
    }

    // MARK: IncrementalStore

    /// True: what a save has written stays in its transaction until other stores have written as well.
    open var savesInTwoPhases: Bool { true }

    /// Opens the file with the key, or creates it, and checks that it was made for the model.
    ///
    /// - Throws: `DatabaseError` where the file cannot be opened; ``SealedStoreError/modelMismatch(_:)`` where it was made
    ///   for another model.
    open func loadMetadata() throws -> StoreMetadata {
        let opened = try StoreOpening(model: model, description: description).open()
        let warnings = description.options[Self.scanWarningsOption] as? ScanWarnings
        layout.set(Layout(opened, scanMonitor: warnings.map(ScanMonitor.init)))
        return StoreMetadata(uuid: opened.uuid, type: description.type, formatVersion: opened.formatVersion)
    }

    /// Carries out a fetch, a count, a save or a batch request.
    ///
    /// - Throws: `DatabaseError` from SQLite; ``SealedStoreError/unsupportedQuery(_:)`` for a condition that has no form in
    ///   SQL; `QueryError` for integers that become too large; `ObjectGraphError` for conflicts and for values that cannot
    ///   be saved.
    open func execute(_ request: StoreRequest, with context: ManagedObjectContext?) throws -> StoreResult {
        do {
            return try result(of: request, with: context)
        } catch DatabaseError.integerOverflow {
            throw QueryError.arithmeticOverflow
        } catch DatabaseError.malformedPattern {
            throw QueryError.malformedPattern
        } catch DatabaseError.expensivePattern {
            throw QueryError.expensivePattern
        }
    }

    private func result(of request: StoreRequest, with context: ManagedObjectContext?) throws -> StoreResult {
        switch request {
        case .fetch(let request): .rows(try reading(for: context) { try fetch(request, in: $0) })
        case .fetchIDs(let request): .ids(try reading(for: context) { _ in try fetchIDs(request) })
        case .count(let request): .count(try reading(for: context) { _ in try count(request) })
        case .fetchDictionaries(let request):
            .dictionaries(try reading(for: context) { _ in try fetchDictionaries(request) })
        case .matches(let request): .matches(try reading(for: context) { _ in try matches(request) })
        case .explain(let request): .plan(try reading(for: context) { _ in try explain(request) })
        case .save(let request): try save(request)
        case .batchInsert(let insertion): .batch(try insert(insertion))
        case .batchUpdate(let request): .batch(try update(request))
        case .batchDelete(let request): .batch(try delete(request))
        case .erase: try erase()
        }
    }

    /// Carries out a request. The statement of one that only reads is ended when the request is cancelled, and the rows that
    /// it reads are reported now and then.
    ///
    /// - Throws: `CancellationError` then; else as ``execute(_:with:)``.
    open func execute(
        _ request: StoreRequest,
        with context: ManagedObjectContext?,
        monitor: RequestMonitor
    ) throws -> StoreResult {
        switch request {
        case .save, .batchInsert, .batchUpdate, .batchDelete, .erase: return try execute(request, with: context)
        case .fetch, .fetchIDs, .count, .fetchDictionaries, .matches, .explain: break
        }
        do {
            // What is read inside is read on the same connection.
            return try layout.value.database.read { connection in
                try connection.interruptible(when: { monitor.isCancelled }) {
                    try connection.observingRows({ monitor.didRead(rows: $0) }) {
                        try execute(request, with: context)
                    }
                }
            }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }

    /// Writes changes, calls `beforeCommit` and commits, in one transaction of the file: what `beforeCommit` throws rolls it
    /// back.
    open func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws {
        try writeTransaction { _, _ in
            _ = try execute(.save(changes), with: context)
            try beforeCommit()
        }
    }

    /// The row of an object, or nil where there is none.
    open func newValuesForObject(
        with id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> IncrementalStoreNode? {
        try newValuesForObjects(with: [id], with: context).first { _ in true }.map(IncrementalStoreNode.init)
    }

    /// The rows of objects.
    open func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RowBatch {
        guard let entity = ids.first?.entity else { return RowBatch() }
        return try reading(for: context) { generation in
            try rows(with: ids.map(\.key), of: entity, in: generation, readFailures: context?.readFailures)
        }
    }

    /// The destination or members of an object's relationship.
    open func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> RelationshipValue {
        let uuid = try layout.value.uuid
        let identify = { ManagedObjectID(entity: relationship.destination, storeUUID: uuid, key: $0) }
        if relationship.isToMany {
            let rows = try newValues(forRelationship: relationship, forObjectsWith: [id], with: context)
            return .toMany(rows.members.map(identify))
        }
        let row = try newValuesForObject(with: id, with: context)?.row
        guard let row, !row.isNull(at: relationship.slot) else { return .toOne(nil) }
        return .toOne(identify(row.integer(at: relationship.slot)))
    }

    /// The members of a to-many relationship of several objects, with their rows.
    open func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows {
        try reading(for: context) { generation in
            try members(
                of: relationship,
                owners: ids.map(\.key),
                in: generation,
                readFailures: context?.readFailures
            )
        }
    }

    /// Identifiers from the store's own sequence, obtained in blocks.
    open func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        let layout = try layout.value
        let root = model.root(of: entity)
        let keys = try sequences.take(count, rootIndex: root.index) { count in
            try PrimaryKeySequences.reserve(count, of: root, layout.database)
        }
        if let last = keys.last { layout.tableSizes.note(lastKey: last, rootIndex: root.index) }
        return keys.map { ManagedObjectID(entity: entity, storeUUID: layout.uuid, key: $0) }
    }

    /// The state that the file has now; nil for a store in memory.
    open func currentQueryGeneration() throws -> (any QueryGeneration)? {
        try layout.value.database.snapshot().map { SnapshotGeneration($0, of: self) }
    }

    /// Closes the file.
    open func close() throws {
        try layout.value.database.close()
    }
}

/// A value that is set once, when a store is opened, and read many times afterwards.
final class OpenedOnce<Value: Sendable>: Sendable {
    private let state = Guarded<Value?>(nil)

    /// The value.
    ///
    /// - Throws: ``SealedStoreError/notOpen`` before it is set.
    var value: Value {
        get throws {
            guard let value = state.withLock({ $0 }) else { throw SealedStoreError.notOpen }
            return value
        }
    }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
