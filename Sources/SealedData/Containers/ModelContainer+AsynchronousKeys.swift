import EncryptedSQLite
import ObjectGraph
import SealedStore

extension ModelContainer {
    /// Opens the stores of a schema with keys from an asynchronous source: a biometric prompt, a key server.
    ///
    /// ```swift
    /// let container = try await ModelContainer.open(for: Schema([Trip.self]), configurations: [configuration]) { _ in
    ///     try await .passphrase(passphraseFromServer())
    /// }
    /// ```
    ///
    /// The stores are opened after the last key has arrived, on the thread that continues the call.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: The versions of the schema and the stages between them.
    ///   - configurations: The stores; if there are none, a store with the default configuration.
    ///   - key: Returns the key of a configuration. It is called once for each file whose configuration has no key.
    /// - Throws: Errors of `key`; `CancellationError` if the task is cancelled; as the initializers.
    public static func open(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration] = [],
        key: (ModelConfiguration) async throws -> EncryptionKey
    ) async throws -> ModelContainer {
        var configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        for index in configurations.indices where configurations[index].needsKey {
            configurations[index] = configurations[index].with(try await key(configurations[index]))
            try Task.checkCancellation()
        }
        return try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the locked files with keys from an asynchronous source.
    ///
    /// - Parameter key: Returns the key of a configuration. It is called once for each locked file.
    /// - Throws: Errors of `key`; `CancellationError` if the task is cancelled; as the synchronous methods. All files
    ///   stay locked then.
    public func unlock(key: (ModelConfiguration) async throws -> EncryptionKey) async throws {
        var keys: [ObjectIdentifier: EncryptionKey] = [:]
        for store in stores.coordinator.sealedStores where store.isLocked {
            keys[ObjectIdentifier(store)] = try await key(stores.openedConfiguration(of: store))
            try Task.checkCancellation()
        }
        try unlockStores { store in
            // Another task has locked the file since the keys were requested.
            guard let key = keys[ObjectIdentifier(store)] else { throw DatabaseError.locked }
            return key
        }
    }
}

extension ModelConfiguration {
    /// Whether the store is a file and the configuration has no key.
    fileprivate var needsKey: Bool { !isStoredInMemoryOnly && key == nil }
}
