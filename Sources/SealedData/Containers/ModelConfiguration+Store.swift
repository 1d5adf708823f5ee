import Foundation
import ObjectGraph
import SealedStore

extension ModelConfiguration {
    /// What a coordinator is told about the store.
    ///
    /// - Throws: what ``EncryptionKey/provider`` throws.
    func storeDescription(entityNames: Set<String>) throws -> PersistentStoreDescription {
        guard !isStoredInMemoryOnly else {
            return PersistentStoreDescription(
                type: SealedStore.storeType,
                url: nil,
                isReadOnly: !allowsSave,
                entityNames: entityNames
            )
        }
        if allowsSave {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
        }
        var options: [String: any Sendable] = [:]
        options[SealedStore.keyOption] = try key ?? EncryptionKey.provider?(self)
        return PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: !allowsSave,
            options: options,
            entityNames: entityNames
        )
    }
}
