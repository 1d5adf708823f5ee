public import EncryptedSQLite
public import ObjectGraph

extension SealedStore {
    /// Closes the file and overwrites the key and the content of the file's pages in memory.
    ///
    /// Objects keep the values that were read. Fetches and saves throw `DatabaseError.locked` until ``unlock(with:)``,
    /// and so does a context that is pinned to a state of the store, which it loses. A property that needs the store is
    /// reported as any other failed read. Waits for running fetches and saves, and must not be called inside one, nor
    /// by an observer of the progress of a backup. Running backups, compactions and changes of the key end, and throw
    /// `DatabaseError.locked`. A store in memory stays open.
    ///
    /// SQLCipher overwrites its page caches only with `SealedStore.memorySecurityOption`.
    public func lock() { opened.database.lock() }

    /// Opens a locked store again, also if it was suspended before or after ``lock()``. Does nothing if the store is
    /// not locked.
    ///
    /// - Parameter key: The key of the file, which may have changed meanwhile.
    /// - Throws: `DatabaseError.wrongKey` and the other errors of opening; ``SealedStoreError/otherStore`` if the file
    ///   is another one; ``SealedStoreError/migratedByAnotherProgram(_:)``. The store stays locked then.
    public func unlock(with key: EncryptionKey) throws {
        try opened.database.unlock(with: key) { try opened.verifyAgain(on: $0) }
    }

    /// Whether the store is locked.
    public var isLocked: Bool { opened.database.isLocked }

    /// Closes the file and keeps the key, so that the process holds no lock on the file while the system suspends it.
    ///
    /// Fetches and saves throw `DatabaseError.suspended` until ``resume()``. They do not wait for it: a thread that
    /// waits may be the one that would resume the store. Otherwise as ``lock()``.
    ///
    /// Does not affect a locked store, which has no open connection: a later ``unlock(with:)`` opens it, although it
    /// was suspended meanwhile.
    public func suspend() { opened.database.suspend() }

    /// Opens a suspended store again. Does nothing if the store is not suspended.
    ///
    /// - Throws: `DatabaseError.wrongKey` if another process has changed the key: lock the store and unlock it with the
    ///   new one. `DatabaseError.locked`; the other errors of ``unlock(with:)``. The store stays suspended then.
    public func resume() throws {
        try opened.database.resume { try opened.verifyAgain(on: $0) }
    }
}

extension OpenStore {
    /// Checks a file that was opened again, and discards data about the earlier one.
    fileprivate func verifyAgain(on connection: Connection) throws {
        try states.verify(on: connection)
        sequences.discardSupplies()
        historyFollowing.forget()
        tableSizes.discard()
    }
}

extension PersistentStoreCoordinator {
    /// The encrypted stores of the coordinator.
    public var sealedStores: [SealedStore] { persistentStores.compactMap { $0 as? SealedStore } }
}
