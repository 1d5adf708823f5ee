public import EncryptedSQLite
public import Foundation
import ObjectGraph

extension SealedStore {
    /// Backs the store up to a new encrypted file, while contexts and other processes read and write.
    ///
    /// The backup is the state that is committed when it begins. It appears at the URL when it is complete and every
    /// page of it has been verified with its key: a failure, a cancellation or the end of the process leaves nothing
    /// there. It is a store like any other, with the same UUID.
    ///
    /// The log of the store grows by the pages that are written during the backup, and is shortened afterwards. A store
    /// in memory waits until its backup is complete.
    ///
    /// - Parameters:
    ///   - url: The URL of the new file.
    ///   - key: The key of the backup; nil for the key of the store. A store in memory has none. The backup has a fresh
    ///     salt, unless the key names the salt, so that no log of the store is ever taken for a log of the backup.
    ///   - replacesExisting: Whether a file at the URL is replaced; not if it is open elsewhere.
    ///   - progress: Receives the finished part. It can be cancelled.
    /// - Throws: `DatabaseError.damaged` if a page of the store does not verify; `DatabaseError.diskFull`;
    ///   `DatabaseError.cannotOpen` if a file exists at the URL, or the URL names a log of a store;
    ///   `DatabaseError.busy` if the file to be replaced is open; `DatabaseError.hardLinked`; `DatabaseError.missingKey`;
    ///   `CancellationError`.
    /// - Complexity: O(*n*) in the size of the file, in bounded memory.
    public func backUp(
        to url: URL,
        key: EncryptionKey? = nil,
        replacesExisting: Bool = false,
        progress: Progress? = nil
    ) throws {
        try opened.database.copy(
            to: url.path,
            key: key,
            form: .pages,
            replacesExisting: replacesExisting,
            progress: progress ?? Progress(totalUnitCount: 100)
        )
    }

    /// Writes a copy of the store without free space to a new encrypted file. Other connections can read and write.
    ///
    /// Primary keys stay, and the pages of each table are consecutive. It has the parameters and errors of
    /// ``backUp(to:key:replacesExisting:progress:)``.
    ///
    /// - Complexity: O(*n*) in the size of the file, in bounded memory. With another key, the copy is written twice,
    ///   which needs twice the space for a time.
    public func compact(
        into url: URL,
        key: EncryptionKey? = nil,
        replacesExisting: Bool = false,
        progress: Progress? = nil
    ) throws {
        try opened.database.copy(
            to: url.path,
            key: key,
            form: .compact,
            replacesExisting: replacesExisting,
            progress: progress ?? Progress(totalUnitCount: 100)
        )
    }

    /// Puts the content of a backup in the place of a store, which no program has open, with all files beside it.
    ///
    /// A log of the store that a killed process has left, its index and a journal are removed: copying the backup to the
    /// path of the store would leave them, and they would be applied to it or prevent its opening. The backup is copied
    /// beside the store, each page of the copy is verified, and the copy takes the place of the store: at every instant,
    /// also after the end of the process, an opening finds either the old store with its log or the new one. The new file
    /// has a fresh salt, unless the key names the salt, and the owner and the permissions of the old one. The backup stays
    /// as it is. If there is no store at the URL, one is created.
    ///
    /// A store that is open in this process has to be locked or suspended. When it is opened again, its contexts read their
    /// objects again.
    ///
    /// - Parameters:
    ///   - backup: The URL of the backup.
    ///   - key: The key of the backup.
    ///   - url: The URL of the store.
    ///   - newKey: The key of the store afterwards; nil for `key`.
    ///   - progress: Receives the finished part. It can be cancelled.
    /// - Throws: `DatabaseError.busy` if the store is open, here or elsewhere; the errors of opening the backup, such as
    ///   `DatabaseError.wrongKey` and `damaged`; ``SealedStoreError`` if it is no store; `DatabaseError.diskFull`;
    ///   `DatabaseError.hardLinked`; `DatabaseError.cannotOpen` if the URL names the backup, or a log of a store;
    ///   `CancellationError`. The store is unchanged then.
    /// - Complexity: O(*n*) in the size of the backup, in bounded memory.
    public static func restore(
        _ backup: URL,
        key: EncryptionKey,
        to url: URL,
        newKey: EncryptionKey? = nil,
        progress: Progress? = nil
    ) throws {
        let description = PersistentStoreDescription(type: storeType, url: backup, options: [keyOption: key])
        try Database.restore(
            backup.path,
            key: key,
            to: url.path,
            newKey: newKey,
            options: StoreFile(description).options(createsIfMissing: false),
            progress: progress ?? Progress(totalUnitCount: 100)
        ) { connection in
            _ = try StoreContent.read(on: connection)
        }
    }

    /// Replaces the file of the store by a file without free space, and continues with it. Objects and contexts stay
    /// valid.
    ///
    /// The new file is built and verified beside the old one, which is in use until the new file takes its name in one
    /// step: the end of the process at any instant leaves one of the two. Reads continue until then; saves wait, here
    /// and in other processes. Other containers and processes that have the store open throw `DatabaseError.moved` at
    /// their next use, and open it again. ``space()`` returns a lower bound of the gain beforehand.
    ///
    /// - Parameters:
    ///   - removingSetAside: Whether data that is set aside is removed before, see ``removeSetAside()``.
    ///   - progress: Receives the finished part. It can be cancelled until the files are exchanged.
    /// - Returns: The space before and afterwards.
    /// - Throws: `DatabaseError.busy` if a connection writes or reads for longer than the busy timeout;
    ///   `ObjectGraphError.storeIsReadOnly`; ``SealedStoreError/isMigrating(operation:)`` in the code of a migration
    ///   stage; `DatabaseError.noFile` for a store in memory; `DatabaseError.diskFull`:
    ///   the new file is written twice, so that room for twice its size is needed for a time;
    ///   `DatabaseError.unconfirmedReplacement` if the new file is in use but a power failure may still bring the old
    ///   one back; `CancellationError`.
    /// - Complexity: O(*n*) in the size of the file, in bounded memory.
    @discardableResult
    public func compact(
        removingSetAside: Bool = false,
        progress: Progress? = nil
    ) throws -> (before: StoreSpace, after: StoreSpace) {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        try opened.requireOwnDatabase(for: "compact")
        let before = try space()
        if removingSetAside { try removeSetAside() }
        try opened.moveLargeValues()
        try opened.database.compact(progress: progress ?? Progress(totalUnitCount: 100))
        return (before, try space())
    }

    /// The size of the store's file and the part of it that is free.
    ///
    /// - Throws: `DatabaseError`.
    public func space() throws -> StoreSpace {
        try opened.database.read { connection in
            func number(_ pragma: String) throws -> Int64 {
                try connection.withStatement("PRAGMA \(pragma)") { try $0.step() ? $0.integer(at: 0) : 0 }
            }
            let pageSize = try number("page_size")
            return StoreSpace(
                byteCount: try number("page_count") * pageSize,
                freeByteCount: try number("freelist_count") * pageSize
            )
        }
    }
}

/// The size of a store's file, without its log.
public struct StoreSpace: Hashable, Sendable {
    /// The size of the file in bytes.
    public let byteCount: Int64
    /// The bytes in pages that hold nothing. New objects reuse them; a compaction returns them to the file system.
    /// Compaction gains more than that if pages are partly empty.
    public let freeByteCount: Int64
}
