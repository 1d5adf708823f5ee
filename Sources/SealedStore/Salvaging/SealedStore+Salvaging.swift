public import EncryptedSQLite
public import Foundation
public import ObjectGraph

extension SealedStore {
    /// Recovers everything readable from a damaged file into a new store, and reports the losses.
    ///
    /// Each page of the damaged file and its log is verified alone, so that a damaged page costs its own rows only: all
    /// objects whose pages are intact are recovered, with their keys, also if a page between them and the root of their
    /// table is damaged. No value is invented: a lost value of an optional property is nil in the new store, and an
    /// object without a required value or reference is lost. References to lost objects are cut. The new store has the
    /// model and the UUID of the damaged one, and appears at its URL when it is complete: a failure, a cancellation or
    /// the end of the process leaves nothing there.
    ///
    /// If the record of the names of tables and columns and of the numbers of entities is lost, and the store may have
    /// been migrated, objects are recovered as far as the rest of the file shows these names and numbers: an entity is
    /// recognized by the properties that its objects have. All other objects are lost. Zeros lose their sign then.
    ///
    /// The transactions of the history are lost. The new store continues behind their numbers, so that readers of the
    /// history get `PersistentHistoryError.expired`, and keeps the global identifiers of objects.
    ///
    /// The damaged file and its log stay as they are. Other processes cannot write to them during the salvage or, if
    /// they have the file open already, their commits during the salvage are not read.
    ///
    /// - Parameters:
    ///   - url: The URL of the damaged file.
    ///   - key: The key of the damaged file. It must be right, and so must the first 16 bytes of the file, the salt.
    ///   - newURL: The URL of the new store, where no file exists.
    ///   - newKey: The key of the new store; nil for `key`.
    ///   - model: The model of a file whose model cannot be read, is missing, or describes another store.
    ///   - progress: Counts pages. It can be cancelled.
    /// - Returns: The report, entity by entity, with the check of the new store.
    /// - Throws: ``SalvageError``; `DatabaseError`, such as `wrongKey`, also for a file without an intact page;
    ///   `CancellationError`. If the sequence of keys is lost, new objects get keys that are larger by 2³² than the
    ///   keys of the recovered objects: the identifiers of lost and deleted objects never become identifiers of new
    ///   objects.
    ///
    /// - Complexity: O(*n* log *n*) in the size of the file. Memory is one byte for each page, and the keys of one index
    ///   while it is built.
    public static func salvage(
        _ url: URL,
        key: EncryptionKey,
        to newURL: URL,
        newKey: EncryptionKey? = nil,
        model: ManagedObjectModel? = nil,
        progress: Progress? = nil
    ) throws -> SalvageReport {
        try DatabaseFiles(at: newURL.path).requireNameOfNoStore()
        guard !FileManager.default.fileExists(atPath: newURL.path) else {
            throw DatabaseError.cannotOpen(path: newURL.path, reason: "a file exists at this path")
        }
        let file = try DamagedFile(path: url.path, key: key)
        let content = try DamagedStore(file, model: model)
        var report: SalvageReport?
        let options = Database.Options(
            applicationID: StoreFile.applicationID,
            newestUserVersion: Int32(StoreFormat.newest),
            durability: .powerLoss,
            functions: QueryFunctions.library
        )
        let database: Database
        do {
            database = try Database(.file(newURL.path), key: newKey ?? key, options: options) { connection in
                var salvage = StoreSalvage(file, content, to: connection, progress: progress)
                // The statements that fill an index take long, too, and end with a cancellation.
                report = try WorkProgress(cancelledBy: progress).interrupting(connection) { try salvage.run() }
            }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
        try database.close()
        guard var report else {
            throw DatabaseError.cannotOpen(path: newURL.path, reason: "a file exists at this path")
        }
        do {
            report.check = try check(newURL, key: newKey ?? key, model: content.model, progress)
        } catch {
            // The store took its name before it was checked.
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: newURL.path + suffix)
            }
            throw error
        }
        return report
    }

    /// Opens a store of a model, checks it and closes it.
    private static func check(
        _ url: URL,
        key: EncryptionKey,
        model: ManagedObjectModel,
        _ progress: Progress?
    ) throws -> StoreReport {
        let description = PersistentStoreDescription(type: storeType, url: url, options: [keyOption: key])
        let opened = try StoreOpening(model: model, description: description).open()
        defer { try? opened.database.close() }
        return try opened.check(WorkProgress(cancelledBy: progress))
    }
}
