import ObjectGraph
public import SealedStore

@_exported public import struct SealedStore.StoreSpace

extension ModelContainer {
    /// Backs an encrypted store of the container up to a new encrypted file, while contexts and other processes read
    /// and write.
    ///
    /// ```swift
    /// try container.backUp(to: url, key: .passphrase("battery staple correct horse"))
    /// ```
    ///
    /// The backup is the state that is committed when it begins: unsaved changes are not part of it. It appears at the
    /// URL when it is complete and every page of it has been verified with its key: a failure, a cancellation or the
    /// end of the process leaves nothing there. A container of several stores backs each of them up separately: a save
    /// between two backups is in the later backup only.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - url: The URL of the new file.
    ///   - key: The key of the backup; nil for the key of the store. A store in memory has none. The backup has a fresh
    ///     salt, unless the key names the salt, so that no log of the store is ever taken for a log of the backup.
    ///   - replacesExisting: Whether a file at the URL is replaced; not if it is open elsewhere.
    ///   - progress: Receives the finished part. It can be cancelled.
    /// - Throws: ``StoreSelectionError``; `DatabaseError.damaged` if a page of the store does not verify;
    ///   `DatabaseError.diskFull`; `DatabaseError.cannotOpen` if a file exists at the URL, or the URL is the URL of a
    ///   log of a store; `DatabaseError.busy` if the file to be replaced is open; `DatabaseError.hardLinked`;
    ///   `DatabaseError.missingKey`; `CancellationError`.
    /// - Complexity: O(*n*) in the size of the file, in bounded memory.
    public func backUp(
        _ configuration: ModelConfiguration? = nil,
        to url: URL,
        key: EncryptionKey? = nil,
        replacesExisting: Bool = false,
        progress: Progress? = nil
    ) throws {
        try stores.store(of: configuration).backUp(
            to: url,
            key: key,
            replacesExisting: replacesExisting,
            progress: progress
        )
    }

    /// Puts the content of a backup in the place of a store, which no program has open, with all files beside it.
    ///
    /// ```swift
    /// try ModelContainer.restore(backup, key: key, to: url)
    /// ```
    ///
    /// A log of the store that a killed process has left, its index and a journal are removed: copying the backup to the
    /// URL of the store would leave them. The backup is copied beside the store, each page of the copy is verified, and
    /// the copy takes the place of the store: at every instant, also after the end of the process, an opening finds either
    /// the old store with its log or the new one. The backup stays as it is. If there is no store at the URL, one is
    /// created.
    ///
    /// A container that has the store open has to be locked or suspended. After `unlock(with:)` or ``resume()``, its
    /// contexts read their models again.
    ///
    /// - Parameters:
    ///   - backup: The URL of the backup.
    ///   - key: The key of the backup.
    ///   - url: The URL of the store.
    ///   - newKey: The key of the store afterwards; nil for `key`.
    ///   - progress: Receives the finished part. It can be cancelled.
    /// - Throws: `DatabaseError.busy` if the store is open, here or elsewhere; the errors of opening the backup, such as
    ///   `DatabaseError.wrongKey` and `damaged`; `SealedStoreError` if it is no store; `DatabaseError.diskFull`;
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
        try SealedStore.restore(backup, key: key, to: url, newKey: newKey, progress: progress)
    }

    /// Writes a copy of an encrypted store without free space to a new encrypted file. Other connections can read and
    /// write.
    ///
    /// It has the parameters and errors of ``backUp(_:to:key:replacesExisting:progress:)``.
    ///
    /// - Complexity: O(*n*) in the size of the file, in bounded memory.
    public func compact(
        _ configuration: ModelConfiguration? = nil,
        into url: URL,
        key: EncryptionKey? = nil,
        replacesExisting: Bool = false,
        progress: Progress? = nil
    ) throws {
        try stores.store(of: configuration).compact(
            into: url,
            key: key,
            replacesExisting: replacesExisting,
            progress: progress
        )
    }

    /// Replaces the file of an encrypted store by a file without free space, and continues with it. Models and contexts
    /// stay valid.
    ///
    /// The new file is built and verified beside the old one, which is in use until the new file takes its name in one
    /// step: the end of the process at any instant leaves one of the two. Reads continue until then; saves wait, here
    /// and in other processes. Other containers and processes that have the store open throw `DatabaseError.moved` at
    /// their next use, and open it again.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted store of the container.
    ///   - removingSetAside: Whether data that is set aside is removed before, see ``setAside(in:)``.
    ///   - progress: Receives the finished part. It can be cancelled until the files are exchanged.
    /// - Returns: The space before and afterwards.
    /// - Throws: ``StoreSelectionError``; `DatabaseError.busy` if a connection writes or reads for longer than the busy
    ///   timeout; `ObjectGraphError.storeIsReadOnly`; `SealedStoreError.isMigrating` in a function of a migration stage;
    ///   `DatabaseError.diskFull`: room for twice the size of the new file is needed for a time; `CancellationError`.
    /// - Complexity: O(*n*) in the size of the file, in bounded memory.
    @discardableResult
    public func compact(
        _ configuration: ModelConfiguration? = nil,
        removingSetAside: Bool = false,
        progress: Progress? = nil
    ) throws -> (before: StoreSpace, after: StoreSpace) {
        try stores.store(of: configuration).compact(removingSetAside: removingSetAside, progress: progress)
    }

    /// The size of the file of an encrypted store and the part of it that is free, which a compaction releases.
    ///
    /// - Parameter configuration: The configuration of the store; nil for the only encrypted store of the container.
    /// - Throws: ``StoreSelectionError``; `DatabaseError`.
    public func space(of configuration: ModelConfiguration? = nil) throws -> StoreSpace {
        try stores.store(of: configuration).space()
    }
}
