import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite struct DurabilityTests {
    private let folder = TemporaryFolder()

    private func open(_ option: (any Sendable)?) throws -> SealedStore {
        var options: [String: any Sendable] = [SealedStore.keyOption: Library.key]
        options[SealedStore.durabilityOption] = option
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: folder.file("library.store"),
            options: options
        )
        return try SealedStore.loadMetadata(of: description, for: Library.model())
    }

    /// The `synchronous` setting of the writer connection: 1 is NORMAL, 2 is FULL.
    private func synchronous(_ option: (any Sendable)?) throws -> Int64? {
        let store = try open(option)
        defer { try? store.close() }
        return try store.opened.database.write { connection in
            try connection.withStatement("PRAGMA synchronous") { try $0.step() ? $0.integer(at: 0) : nil }
        }
    }

    @Test func `a store with the durability option waits for the disk`() throws {
        #expect(try synchronous(nil) == 1)
        #expect(try synchronous(Durability.applicationCrash) == 1)
        #expect(try synchronous(Durability.powerLoss) == 2)
    }

    @Test func `an option of another type is refused`() {
        #expect(throws: SealedStoreError.malformedOption(SealedStore.durabilityOption)) { try open("powerLoss") }
    }
}
