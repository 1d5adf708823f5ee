public import EncryptedSQLite
public import Foundation
public import ObjectGraph
public import SealedStore

/// Imports objects into an encrypted store: from JSON lines, CSV, a store of Core Data or SwiftData, or any SQLite or
/// SQLCipher database.
///
/// ```swift
/// let target = StoreImport(into: storeURL, key: key, model: model)
/// let report = try target.importJSONLines(from: fileURL)
/// ```
///
/// If there is no file at the URL, the import creates a store there: it writes under a temporary name, reads the whole
/// file again, and verifies each page, the structure and the content; then the file takes its name. If there is a
/// store, the import is one transaction. So an import that fails, is cancelled, or whose process ends changes nothing.
///
/// Memory does not grow with the number of objects. Data that is needed until the end, such as the identifiers of a
/// file, is in a temporary file under a random key. While the transaction runs, the store's write-ahead log grows with
/// everything that is imported.
///
/// All rules of the model are checked at the end. Objects of the store that violated a rule before do not prevent an
/// import.
///
/// Progress is reported in a `Progress`, which also cancels: the import then throws `CancellationError`. The last part
/// of the progress is for the checks.
public struct StoreImport: Sendable {
    /// The file of the store.
    public var url: URL
    /// The key of the store.
    public var key: EncryptionKey
    /// The model of the store; nil for the model of an existing file, and for the inferred model of a database.
    public var model: ManagedObjectModel?
    /// The choices.
    public var options: ImportOptions
    /// The values of required attributes for which the source has none, given the names of the entity that declares the
    /// attribute and of the attribute. `AttributeDescription.defaultValue` takes precedence: the model of an existing
    /// file does not contain it.
    public var defaultValues: SealedStore.DefaultValues?

    /// Prepares an import into a store.
    public init(
        into url: URL,
        key: EncryptionKey,
        model: ManagedObjectModel? = nil,
        options: ImportOptions = ImportOptions()
    ) {
        self.url = url
        self.key = key
        self.model = model
        self.options = options
    }

    /// The model of the store: the given model, or the model of the file.
    ///
    /// - Throws: `DatabaseError.fileNotFound` if there is neither a model nor a file.
    func targetModel() throws -> ManagedObjectModel {
        if let model { return model }
        return try SealedStore.model(of: description(url))
    }

    /// Whether the store exists.
    var storeExists: Bool { FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) }

    private func description(_ url: URL) -> PersistentStoreDescription {
        SealedStore.register()
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: key]
        )
        // An import is no reason to change the model of a store.
        description.shouldMigrateStoreAutomatically = false
        return description
    }

    /// Imports a source.
    func run(
        _ source: any ImportSource,
        _ model: ManagedObjectModel,
        _ progress: Progress?
    ) throws -> ImportReport {
        do {
            let report = try storeExists ? run(source, model, progress, url) : create(source, model, progress)
            progress?.completedUnitCount = progress?.totalUnitCount ?? 0
            return report
        } catch SaveConflict.notUnique(let entity, let properties) {
            throw TransferError.notUnique(entity: entity, properties: properties)
        }
    }

    /// Imports a source into a new store.
    private func create(
        _ source: any ImportSource,
        _ model: ManagedObjectModel,
        _ progress: Progress?
    ) throws -> ImportReport {
        let file = try NewFile(at: url)
        let temporaryURL = URL(filePath: file.temporaryPath, directoryHint: .notDirectory)
        let report = try run(source, model, progress, temporaryURL)
        try verify(temporaryURL, model, progress)
        try file.complete()
        return report
    }

    /// Opens a new store again, and checks the whole file.
    func verify(_ newFile: URL, _ model: ManagedObjectModel, _ progress: Progress?) throws {
        let store = try SealedStore.loadMetadata(of: description(newFile), for: model)
        do {
            let rest = progress.map { max(1, $0.totalUnitCount - $0.completedUnitCount) } ?? 1
            let checking = progress.map { Progress(totalUnitCount: 1, parent: $0, pendingUnitCount: rest) }
            // A part of the progress that begins after the cancellation is not cancelled.
            if progress?.isCancelled ?? false { throw CancellationError() }
            let report = try store.check(progress: checking)
            guard report.problems.isEmpty else { throw DatabaseError.damaged(path: url.path(percentEncoded: false)) }
            try store.closeCompletely()
        } catch {
            try? store.close()
            throw error
        }
    }

    private func run(
        _ source: any ImportSource,
        _ model: ManagedObjectModel,
        _ progress: Progress?,
        _ storeURL: URL
    ) throws -> ImportReport {
        try SealedStore.importing(into: description(storeURL), for: model) { transaction in
            let identifiers = try IdentifierTable(beside: url)
            defer { identifiers.close() }
            return try identifiers.transaction { records in
                try ImportSession(model, options, defaultValues, progress, transaction, records).run(source)
            }
        }
    }
}
