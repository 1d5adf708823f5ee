import ObjectGraph
import SealedStore

extension ModelContainer {
    /// Closes the container's encrypted files and overwrites their keys, for example when the screen is locked.
    ///
    /// Models keep the values that were read. Fetches and saves throw `DatabaseError.locked` until the container is
    /// unlocked. A property that needs the store reads as empty and is reported as any other ``ReadFailure``. Unsaved
    /// changes stay in their contexts. Waits for running fetches and saves, and must not be called inside one. Running
    /// backups, compactions and changes of the key end, and throw `DatabaseError.locked`. Stores in memory and custom
    /// stores stay open. Does nothing in a function of a migration stage, which runs in a transaction on the file.
    ///
    /// SQLCipher overwrites its page caches only with ``ModelConfiguration/protectsMemory``. Models that the app holds
    /// are readable in memory in any case.
    public func lock() {
        for store in stores.coordinator.sealedStores { store.lock() }
    }

    /// Opens the locked files with one key, and continues with the same contexts and models.
    ///
    /// - Throws: `DatabaseError.wrongKey` and the other errors of opening, `SealedStoreError.otherStore` if a file was
    ///   exchanged. All files stay locked then.
    public func unlock(with key: EncryptionKey) throws {
        try unlockStores { _ in key }
    }

    /// Opens the locked files with the keys that a function returns.
    ///
    /// - Parameter key: Returns the key of a configuration.
    /// - Throws: Errors of `key`; as ``unlock(with:)``. All files stay locked then.
    public func unlock(with key: (ModelConfiguration) throws -> EncryptionKey) throws {
        try unlockStores { store in try key(stores.openedConfiguration(of: store)) }
    }

    /// Opens the locked files with the keys that a function returns for them.
    func unlockStores(_ key: (SealedStore) throws -> EncryptionKey) throws {
        var unlocked: [SealedStore] = []
        do {
            for store in stores.coordinator.sealedStores where store.isLocked {
                try store.unlock(with: key(store))
                unlocked.append(store)
            }
        } catch {
            for store in unlocked { store.lock() }
            throw error
        }
    }

    /// Whether an encrypted file of the container is locked.
    public var isLocked: Bool { stores.coordinator.sealedStores.contains(where: \.isLocked) }

    /// Closes the container's encrypted files and keeps their keys, so that the process holds no lock on them.
    ///
    /// An app that shares its store with an extension calls it before the system suspends the app: iOS ends apps that
    /// hold locks on shared files then. Fetches and saves throw `DatabaseError.suspended` until ``resume()``. They do
    /// not wait for that call: a waiting thread may be the thread that would resume the container. In all other
    /// respects it works as ``lock()``.
    ///
    /// A locked file has no open connection and stays as it is: a later `unlock(with:)` opens it, so an app that locks
    /// its container does not unlock it before the system has resumed the app.
    public func suspend() {
        for store in stores.coordinator.sealedStores { store.suspend() }
    }

    /// Opens suspended files again, and continues with the same contexts and models.
    ///
    /// A backup under the same key can be in the place of a file: see ``restore(_:key:to:newKey:progress:)``.
    ///
    /// - Throws: `DatabaseError.wrongKey` if another process has changed the key: lock the container and unlock it with
    ///   the new key. `DatabaseError.locked`; the other errors of `unlock(with:)`. Files that cannot be opened stay
    ///   suspended, and all other files are open.
    public func resume() throws {
        var failure: (any Error)?
        for store in stores.coordinator.sealedStores {
            do { try store.resume() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension ModelContainer.Stores {
    /// The configuration with which a store was opened, without its key.
    func openedConfiguration(of store: SealedStore) throws -> ModelConfiguration {
        guard let found = openedConfigurations.first(where: { $0.url == store.description.url }) else {
            throw SwiftDataError(.unknownConfiguration, "a store was opened without a configuration")
        }
        return found
    }
}
