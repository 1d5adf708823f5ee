public import EncryptedSQLite
import Foundation
import Guarded
public import ObjectGraph

extension SealedStore {
    /// Closes the file and overwrites the key and the content of the file's pages in memory.
    ///
    /// Objects keep the values that were read. Fetches and saves throw `DatabaseError.locked` until ``unlock(with:)``,
    /// and so does a context that is pinned to a state of the store, which loses that state. A property that needs the
    /// store is reported as any other failed read. Waits for running fetches and saves, and must not be called inside
    /// one, nor by an observer of the progress of a backup. Running backups, compactions and changes of the key end,
    /// and throw `DatabaseError.locked`. A store in memory stays open, and so does a store in the code of a migration
    /// stage, which runs in a transaction on the file.
    ///
    /// SQLCipher overwrites its page caches only with `SealedStore.memorySecurityOption`.
    public func lock() {
        guard opened.ownsDatabase else { return }
        opened.noteFile()
        opened.database.lock()
    }

    /// Opens a locked store again, also if it was suspended before or after ``lock()``. Does nothing if the store is
    /// not locked.
    ///
    /// If another file is in its place, such as a backup to which other programs have saved since, contexts read all
    /// their saved objects again before their next fetch or save. If the row of an object with unsaved changes has
    /// other values then, its save throws a conflict, whatever the merge policy: the row may belong to another object
    /// with the same key. Roll back its changes, or refresh it and set them again. Earlier changes can no longer be
    /// undone.
    ///
    /// - Parameter key: The key of the file, which another program may have changed since the store was locked.
    /// - Throws: `DatabaseError.wrongKey` and the other errors of opening; ``SealedStoreError/otherStore`` if the file
    ///   holds another store; ``SealedStoreError/migratedByAnotherProgram(_:)``. The store stays locked then.
    public func unlock(with key: EncryptionKey) throws {
        try opened.reopening { try opened.database.unlock(with: key, verify: $0) }
    }

    /// Whether the store is locked.
    public var isLocked: Bool { opened.database.isLocked }

    /// Closes the file and keeps the key, so that the process holds no lock on the file while the system suspends it.
    ///
    /// Fetches and saves throw `DatabaseError.suspended` until ``resume()``. They do not wait for that call: a waiting
    /// thread may be the thread that would resume the store. In all other respects it works as ``lock()``.
    ///
    /// A locked store has no open connection and stays as it is: a later ``unlock(with:)`` opens it, although it was
    /// suspended while it was locked.
    public func suspend() {
        guard opened.ownsDatabase else { return }
        opened.noteFile()
        opened.database.suspend()
    }

    /// Opens a suspended store again. Does nothing if the store is not suspended.
    ///
    /// If a backup with the same passphrase is in the place of the file, or another process has compacted the store,
    /// the key is derived from the passphrase again.
    ///
    /// - Throws: `DatabaseError.wrongKey` if another process has changed the key: lock the store and unlock it with the
    ///   new key. `DatabaseError.locked`; the other errors of ``unlock(with:)``. The store stays suspended then.
    public func resume() throws {
        try opened.reopening { try opened.database.resume(verify: $0) }
    }
}

extension OpenStore {
    /// Records the mark of the file that is about to be closed.
    fileprivate func noteFile() {
        // A store that is closed already keeps the mark.
        guard let present = try? database.read({ database.fileMark(of: $0) }) else { return }
        closedFile.withLock { $0 = $0 ?? present }
    }

    /// Calls a function that opens the file again with a verification. If another file has taken the place of the
    /// closed file, contexts read their objects again: it may be a backup, to which other programs have committed
    /// since.
    ///
    /// A file that was overwritten in place counts as another file if it has another salt, as each backup has, or lacks
    /// keys that the store had reserved.
    fileprivate func reopening(_ open: ((Connection) throws -> Void) throws -> Void) throws {
        var isReopened = false
        var isReplaced = false
        try open { connection in
            isReopened = true
            isReplaced =
                try sequences.exceed(connection, model)
                || database.fileMark(of: connection) != closedFile.withLock(\.self)
            try verifyAgain(on: connection)
            // Before the first use of the file: a save must not write to a row that belongs to another object now.
            if isReplaced { _ = announceReplacement(precedesUse: true) }
        }
        guard isReopened else { return }
        closedFile.withLock { $0 = nil }
        reportLogLoss()
        if isReplaced { announceReplacement(precedesUse: false)() }
    }

    /// - Returns: a function that calls the observers, when no lock is held.
    private func announceReplacement(precedesUse: Bool) -> @Sendable () -> Void {
        guard let receive = replacementReceiver.withLock(\.self) else { return {} }
        return receive(Commit.unknown(.replacement(isOpen: !precedesUse)))
    }

    /// Checks a file that was opened again, and discards data about the earlier file.
    fileprivate func verifyAgain(on connection: Connection) throws {
        try states.verify(on: connection)
        sequences.discardSupplies()
        historyCursor.forget()
        tableSizes.discard()
    }
}

extension PersistentStoreCoordinator {
    /// The encrypted stores of the coordinator.
    public var sealedStores: [SealedStore] { persistentStores.compactMap { $0 as? SealedStore } }
}
