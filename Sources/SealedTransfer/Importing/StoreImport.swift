public import EncryptedSQLite
public import Foundation
public import ObjectGraph
import SealedStore

/// Imports objects into an encrypted store: from JSON lines, CSV, a store of Core Data or SwiftData, or any SQLite or
/// SQLCipher database.
///
/// ```swift
/// let target = StoreImport(into: storeURL, key: key, model: model)
/// let report = try target.importJSONLines(from: fileURL)
/// ```
///
/// If there is no file at the URL, the import creates a store there: it writes under a temporary name, and the file
/// takes its name when everything is in it, verified and on the disk. If there is a store, the import is one
/// transaction. So an import that fails, is cancelled, or whose process ends changes nothing.
///
/// Memory does not grow with the number of objects. What has to be remembered, such as the identifiers of a file, is in
/// a temporary file under a random key. While the transaction runs, the store's write-ahead log grows with everything
/// that is imported.
///
/// Progress is reported in a `Progress`, which also cancels: the import then throws `CancellationError`.
public struct StoreImport: Sendable {
    /// The file of the store.
    public var url: URL
    /// The key of the store.
    public var key: EncryptionKey
    /// The model of the store; nil for the model of an existing file, and for the inferred model of a database.
    public var model: ManagedObjectModel?
    /// The choices.
    public var options: ImportOptions

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

    /// The model of the store: the given one, or that of the file.
    ///
    /// - Throws: `DatabaseError.fileNotFound` if there is neither.
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
            if storeExists { return try run(source, model, progress, url) }
            let file = try NewFile(at: url)
            file.removeEmptyFile()
            let temporaryURL = URL(filePath: file.temporaryPath, directoryHint: .notDirectory)
            let report = try run(source, model, progress, temporaryURL)
            try file.complete()
            return report
        } catch SaveConflict.notUnique(let entity, let properties) {
            throw TransferError.notUnique(entity: entity, properties: properties)
        }
    }

    private func run(
        _ source: any ImportSource,
        _ model: ManagedObjectModel,
        _ progress: Progress?,
        _ storeURL: URL
    ) throws -> ImportReport {
        let store = try SealedStore.loadMetadata(of: description(storeURL), for: model)
        var isClosed = false
        defer { if !isClosed { try? store.close() } }
        let identifiers = try IdentifierTable(beside: url)
        defer { identifiers.close() }
        let report = try store.importing { transaction in
            try identifiers.transaction { records in
                try ImportSession(model, options, progress, transaction, records).run(source)
            }
        }
        isClosed = true
        try store.close()
        return report
    }
}
