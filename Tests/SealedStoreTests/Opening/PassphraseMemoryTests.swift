#if os(Linux)
    import EncryptedSQLite
    import Foundation
    import ObjectGraph
    import SealedStore
    import TestSupport
    import Testing

    /// The memory of a process with an open store; run in a separate process, without the passphrases of other tests.
    @Suite(.enabled(if: HiddenSecret.isSearchable)) struct PassphraseMemoryTests {
        @Test func `the passphrase of an open store is not in memory`() async {
            await #expect(processExitsWith: .success) {
                let folder = TemporaryFolder()
                let secret = HiddenSecret()
                let coordinator = PersistentStoreCoordinator(
                    model: try ManagedObjectModel(entities: [
                        EntityDescription("Note", attributes: [.init("text", .string, isOptional: true)])
                    ])
                )
                SealedStore.register()
                do {
                    let key = secret.withBytes { EncryptionKey.passphrase($0) }
                    let isFoundBefore = try secret.isInMemory()
                    try #require(isFoundBefore)
                    try coordinator.addPersistentStore(
                        PersistentStoreDescription(
                            type: SealedStore.storeType,
                            url: folder.file("notes.store"),
                            options: [SealedStore.keyOption: key]
                        )
                    )
                }
                let context = ManagedObjectContext(coordinator: coordinator)
                _ = ManagedObject(entity: coordinator.model.entities[0], insertInto: context)
                try context.save()
                let isFound = try secret.isInMemory()
                try #require(!isFound)
                // Connections opened later need no passphrase.
                let count = try context.count(FetchRequest(coordinator.model.entities[0]))
                try #require(count == 1)
            }
        }
    }
#endif
