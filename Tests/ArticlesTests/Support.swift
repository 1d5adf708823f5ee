import Foundation
import SealedData
import TestSupport

/// A container in memory.
func container(for types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

/// Stores the default containers of this process, encrypted, in a folder that is removed at the end.
func withDefaultStores(_ body: () async throws -> Void) async throws {
    // The folder is removed when the function returns.
    let folder = TemporaryFolder()
    setenv("XDG_DATA_HOME", folder.path, 1)
    EncryptionKey.provider = { _ in .passphrase("articles") }
    try await body()
}

extension ModelContext {
    /// All models of a class.
    func all<T: PersistentModel>(_ type: T.Type = T.self) throws -> [T] { try fetch(FetchDescriptor<T>()) }
}
