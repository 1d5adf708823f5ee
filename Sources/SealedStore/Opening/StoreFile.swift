import EncryptedSQLite
import Foundation
import ObjectGraph

/// The file of a store with its key, or a store in memory.
struct StoreFile: Sendable {
    /// "SEAL": the `application_id` of a store's file.
    static let applicationID: Int32 = 0x5345_414C

    let configuration: StoreConfiguration
    private let key: EncryptionKey?

    /// - Throws: ``SealedStoreError/malformedOption(_:)``; ``SealedStoreError/malformedKey``.
    init(_ description: PersistentStoreDescription) throws {
        configuration = try StoreConfiguration(description)
        key =
            switch description.options[SealedStore.keyOption] {
            case nil: nil
            case let key as EncryptionKey: key
            case let passphrase as String: .passphrase(passphrase)
            default: throw SealedStoreError.malformedKey
            }
    }

    /// Opens the database. If `verify` throws, the file is not changed.
    func open(
        createsIfMissing: Bool,
        create: (Connection) throws -> Void = { _ in },
        verify: (Connection) throws -> Void
    ) throws -> Database {
        try Database(
            location,
            key: key,
            options: options(createsIfMissing: createsIfMissing),
            create: create,
            verify: verify
        )
    }

    /// Calls `body` in a read transaction of the file, which is not changed.
    ///
    /// - Returns: The last result of `body`, which may be called twice: see `Database.examine`.
    func examine<R>(_ body: (Connection) throws -> R) throws -> R {
        var result: R?
        try Database.examine(location, key: key, options: options(createsIfMissing: false)) { connection in
            result = try body(connection)
        }
        guard let result else { preconditionFailure("A database is open that was not verified.") }
        return result
    }

    private var location: Database.Location {
        configuration.description.url.map { .file($0.path) } ?? .memory
    }

    /// The options of the database.
    func options(createsIfMissing: Bool) -> Database.Options {
        Database.Options(
            readOnly: configuration.isReadOnly,
            createsIfMissing: createsIfMissing,
            applicationID: Self.applicationID,
            newestUserVersion: Int32(StoreFormat.newest),
            memorySecurity: configuration.memorySecurity,
            durability: configuration.durability,
            functions: QueryFunctions.library
        )
    }
}
