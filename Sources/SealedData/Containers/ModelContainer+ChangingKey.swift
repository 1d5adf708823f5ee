public import Foundation
import ObjectGraph
import SealedStore

extension ModelContainer {
    /// Encrypts a store's file with another key, while the container is in use.
    ///
    /// The container writes a new file beside the old one, verifies each of its pages, and then exchanges the files in
    /// one step. At every instant, also after a power failure, exactly one of the keys opens the file. Contexts and
    /// their models continue without a reload. Fetches continue during the change; saves wait. Other containers and
    /// processes that have the file open throw `DatabaseError.moved` at their next use, and have to open it again. The
    /// folder needs room for a second file.
    ///
    /// ```swift
    /// try container.changeKey(to: .passphrase(newPassphrase))
    /// ```
    ///
    /// The call blocks its thread, and must not be made inside a fetch or save.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the store; nil for the only encrypted file of the container.
    ///   - key: The new key.
    ///   - progress: Receives the finished fraction, and can be cancelled.
    /// - Throws: ``SwiftDataError/unknownConfiguration``; `ObjectGraphError.storeIsReadOnly`;
    ///   `SealedStoreError.isMigrating` in a function of a migration stage; `DatabaseError.busy` if
    ///   another process reads or writes for longer than ten seconds; `DatabaseError.diskFull`, `damaged` and others;
    ///   `CancellationError`. The old key is in force then. Only `DatabaseError.unconfirmedReplacement` is thrown after
    ///   the exchange: the new key is in force.
    /// - Complexity: O(*n*) in the size of the file. Memory does not depend on the size.
    public func changeKey(
        of configuration: ModelConfiguration? = nil,
        to key: EncryptionKey,
        progress: Progress? = nil
    ) throws {
        try sealedStore(of: configuration).changeKey(to: key, progress: progress)
    }

    private func sealedStore(of configuration: ModelConfiguration?) throws -> SealedStore {
        let files = stores.coordinator.sealedStores.filter { $0.description.url != nil }
        guard let configuration else {
            guard files.count == 1, let store = files.first else {
                throw SwiftDataError(
                    .unknownConfiguration,
                    "the container has \(files.count) encrypted files; name the configuration of one"
                )
            }
            return store
        }
        guard let store = files.first(where: { $0.description.url == configuration.url }) else {
            throw SwiftDataError(
                .unknownConfiguration,
                "the container has no encrypted file of configuration '\(configuration.name)'"
            )
        }
        return store
    }
}
