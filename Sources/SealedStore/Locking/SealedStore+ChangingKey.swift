public import struct EncryptedSQLite.EncryptionKey
public import Foundation
import ObjectGraph

extension SealedStore {
    /// Encrypts the file with another key, while the store is in use.
    ///
    /// The store writes a new file beside the old one, verifies each of its pages, and then exchanges the files in one
    /// step. At every instant, also after a power failure, exactly one of the keys opens the file. Contexts and their
    /// objects continue without a reload. Fetches continue during the change; saves wait, also saves of other
    /// processes, up to their busy timeout. Other containers and processes that have the file open throw
    /// `DatabaseError.moved` at their next use, and have to open the store again. The folder needs room for a second
    /// file.
    ///
    /// - Parameters:
    ///   - key: The new key.
    ///   - progress: Receives the finished fraction, and can be cancelled.
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; ``SealedStoreError/isMigrating(operation:)`` in the code of a
    ///   migration stage; `DatabaseError.noFile` for a store in memory; `DatabaseError.busy`
    ///   if another process reads or writes, or a context is pinned to a state, for longer than the busy timeout;
    ///   `DatabaseError.diskFull`, `damaged` and others; `CancellationError`. The old key is in force then. Only
    ///   `DatabaseError.unconfirmedReplacement` is thrown after the exchange: the new key is in force.
    /// - Complexity: O(*n*) in the size of the file. Memory does not depend on the size.
    public func changeKey(to key: EncryptionKey, progress: Progress? = nil) throws {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        try opened.requireOwnDatabase(for: "changeKey")
        try opened.database.changeKey(to: key, progress: progress ?? Progress(totalUnitCount: 100))
    }
}
