import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

extension ModelConfiguration {
    /// Returns the description of the store for a coordinator.
    ///
    /// - Parameters:
    ///   - entityNames: The entities that the store holds.
    ///   - container: The container's schema.
    ///   - versions: The versions of the schema.
    /// - Throws: Errors of ``EncryptionKey/provider``; ``SwiftDataError/loadIssueModelContainer`` if the file's folder
    ///   cannot be created, or the program has no access to the folder of its app group.
    func storeDescription(
        entityNames: Set<String>,
        of container: Schema,
        _ versions: StoreVersions
    ) throws -> PersistentStoreDescription {
        var options: [String: any Sendable] = [:]
        options[SealedStore.modelVersionOption] = versions.current.map(String.init(describing:))
        if !versions.stages.isEmpty { options[SealedStore.migrationStagesOption] = versions.stages }
        options[SealedStore.migrationProgressOption] = migrationProgress
        if !duplicateRules.isEmpty { options[SealedStore.duplicateRulesOption] = duplicateRules }
        options[SealedStore.defaultValuesOption] = container.storedDefaultValues
        options[SealedStore.scanWarningsOption] = scanWarnings
        options[SealedStore.historyOption] = history
        guard !isStoredInMemoryOnly else {
            return PersistentStoreDescription(
                type: SealedStore.storeType,
                url: nil,
                isReadOnly: !allowsSave,
                options: options,
                entityNames: entityNames
            )
        }
        try requireGroupFolder()
        if allowsSave { try makeFolder() }
        options[SealedStore.durabilityOption] = durability
        options[SealedStore.memorySecurityOption] = protectsMemory
        options[SealedStore.followsOtherProcessesOption] = followsOtherProcesses
        options[SealedStore.keyOption] = try key ?? EncryptionKey.provider?(self)
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: !allowsSave,
            options: options,
            entityNames: entityNames
        )
        description.shouldMigrateStoreAutomatically = allowsMigration
        return description
    }

    private func makeFolder() throws {
        let exists = url.withUnsafeFileSystemRepresentation { path in path.map { access($0, F_OK) == 0 } ?? false }
        guard !exists else { return }
        let folder = url.deletingLastPathComponent()
        do {
            try OwnerOnly.createFolders(at: folder)
        } catch {
            throw SwiftDataError(
                .loadIssueModelContainer,
                "configuration '\(name)': the folder \(folder.path(percentEncoded: false)) cannot be made. Choose one that "
                    + "this program may write to, or make it.",
                cause: error
            )
        }
    }
}
