public import EncryptedSQLite
public import Foundation
import ObjectGraph
import SealedStore

/// Exports the objects of an encrypted store: as JSON lines, as CSV, or as a plaintext SQLite database.
///
/// ```swift
/// try StoreExport(from: storeURL, key: key).exportJSONLines(to: fileURL)
/// ```
///
/// The exported file is not encrypted: anyone who can read it can read the objects. Only the owner of a new file can
/// read it, and no existing file is replaced.
///
/// An export reads one state of the store, while other programs may write. It writes to a file without a name, which
/// takes its name when it is complete and on the disk. So an export that fails, is cancelled, or whose process ends
/// leaves nothing. On systems and file systems that cannot give a file its name later, an export whose process is killed
/// leaves a temporary folder, which only its owner can read, with a name that begins with a point; the next operation on
/// a store in the same place, and the next opening of one for writing, removes it.
///
/// Memory does not grow with the number of objects, but with the size of the largest one and the number of its members.
public struct StoreExport: Sendable {
    /// The file of the store.
    public var url: URL
    /// The key of the store.
    public var key: EncryptionKey
    /// The names of the exported entities; nil for all. Subentities are exported only if they are named.
    ///
    /// References to objects of other entities are exported nevertheless.
    public var entityNames: Set<String>?
    /// Whether the entities and properties that are set aside in the store are exported, too: the model of the program
    /// that has opened the store last does not have them.
    public var includesSetAside = false

    /// Prepares an export of a store.
    public init(from url: URL, key: EncryptionKey, entityNames: Set<String>? = nil) {
        self.url = url
        self.key = key
        self.entityNames = entityNames
    }

    /// Calls `body` with one state of the store.
    func reading<R>(_ progress: Progress?, _ body: (ExportReader) throws -> R) throws -> R {
        SealedStore.register()
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: true,
            options: [SealedStore.keyOption: key]
        )
        let model =
            includesSetAside
            ? try SealedStore.modelWithSetAside(of: description) : try SealedStore.model(of: description)
        if let unknown = entityNames?.sorted().first(where: { model.entitiesByName[$0] == nil }) {
            throw TransferError.unsupported("the unknown entity '\(unknown)'")
        }
        let store = try SealedStore.loadMetadata(of: description, for: model)
        defer { try? store.close() }
        return try store.exporting { try body(ExportReader($0, model, entityNames, progress)) }
    }
}
