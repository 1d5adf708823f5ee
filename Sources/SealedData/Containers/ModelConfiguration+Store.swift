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
    /// - Throws: Errors of ``EncryptionKey/provider``; with a provider also
    ///   ``SwiftDataError/loadIssueModelContainer`` if the file's folder cannot be created.
    func storeDescription(
        entityNames: Set<String>,
        of container: Schema,
        _ versions: StoreVersions
    ) throws -> PersistentStoreDescription {
        var options = [String: any Sendable](minimumCapacity: 12)
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
        options[SealedStore.durabilityOption] = durability
        options[SealedStore.memorySecurityOption] = protectsMemory
        options[SealedStore.followsOtherProcessesOption] = followsOtherProcesses
        if let key {
            options[SealedStore.keyOption] = key
        } else if let provider = EncryptionKey.provider {
            // A provider may keep the key beside the file.
            _ = try makeMissingFolder()
            options[SealedStore.keyOption] = try provider(self)
        }
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

    /// Makes the folder of a file that the container may create.
    ///
    /// - Returns: Whether there was no such folder.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` if the folder cannot be created.
    func makeMissingFolder() throws -> Bool {
        guard allowsSave, !isStoredInMemoryOnly else { return false }
        let folder = url.deletingLastPathComponent()
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(
            atPath: folder.path(percentEncoded: false),
            isDirectory: &isDirectory
        )
        guard !exists || !isDirectory.boolValue else { return false }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return true
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
