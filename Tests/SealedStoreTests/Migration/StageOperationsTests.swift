import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// Operations on the store and its file in the code of a migration stage, which runs in a transaction on the file.
@Suite struct StageOperationsTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let key = Array(repeating: 5 as UInt8, count: 32)
    private static let first = [EntityDescription("Trip", attributes: [.init("name", .string)])]
    private static let second = [
        EntityDescription("Trip", attributes: [.init("name", .string), .init("days", .int64, isOptional: true)])
    ]

    /// The functions of a stage.
    enum Function: CaseIterable {
        case willMigrate, didMigrate
    }

    private static func stages(_ function: Function? = nil, _ code: StoreMigrationStage.Code? = nil) throws
        -> [StoreMigrationStage]
    {
        [
            StoreMigrationStage(try ManagedObjectModel(entities: first)),
            StoreMigrationStage(
                try ManagedObjectModel(entities: second),
                willMigrate: function == .willMigrate ? code : nil,
                didMigrate: function == .didMigrate ? code : nil
            ),
        ]
    }

    /// Migrates a store of two objects, with code in a function of the only stage.
    private func migrate(_ function: Function, _ code: @escaping StoreMigrationStage.Code) throws -> MigratingStore {
        let store = try MigratingStore(url, Self.first)
        for name in ["a", "b"] { store.insert("Trip", ["name": .text(name)]) }
        try store.saveAndClose()
        let hasRun = Guarded(false)
        let stages = try Self.stages(function) { coordinator in
            try code(coordinator)
            hasRun.withLock { $0 = true }
        }
        let migrated = try MigratingStore(url, Self.second, options: [SealedStore.migrationStagesOption: stages])
        #expect(hasRun.withLock { $0 })
        #expect(try migrated.problems() == [])
        return migrated
    }

    private static func count(_ coordinator: PersistentStoreCoordinator) throws -> Int {
        let context = ManagedObjectContext(coordinator: coordinator)
        return try context.fetch(FetchRequest(coordinator.model.entities[0]), as: ManagedObject.self).count
    }

    @Test(arguments: Function.allCases) func `the file of the store is not replaced`(function: Function) throws {
        let store = try migrate(function) { coordinator in
            let store = try coordinator.sealedStore
            #expect(throws: SealedStoreError.isMigrating(operation: "compact")) { try store.compact() }
            #expect(throws: SealedStoreError.isMigrating(operation: "changeKey")) {
                try store.changeKey(to: .passphrase("another key"))
            }
            #expect(try Self.count(coordinator) == 2)
        }
        #expect(try store.values("Trip", "name") == [.text("a"), .text("b")])
        try store.store().compact()
    }

    @Test(arguments: Function.allCases) func `locking and suspending the store does nothing`(function: Function) throws
    {
        let store = try migrate(function) { coordinator in
            let store = try coordinator.sealedStore
            store.lock()
            #expect(!store.isLocked)
            #expect(try Self.count(coordinator) == 2)
            try store.unlock(with: .raw(Self.key))
            store.suspend()
            #expect(try Self.count(coordinator) == 2)
            try store.resume()
        }
        #expect(try store.values("Trip", "name") == [.text("a"), .text("b")])
    }

    @Test(arguments: Function.allCases) func `closing the store ends the use of its coordinator only`(
        function: Function
    ) throws {
        let store = try migrate(function) { coordinator in
            try coordinator.removeAllStores()
            #expect(throws: ObjectGraphError.self) { try Self.count(coordinator) }
        }
        #expect(try store.values("Trip", "name") == [.text("a"), .text("b")])
    }

    @Test(arguments: Function.allCases) func `erasing the store is a part of the transaction`(function: Function) throws
    {
        let store = try migrate(function) { try $0.eraseStores() }
        #expect(try store.objects("Trip").isEmpty)
    }

    @Test(arguments: Function.allCases) func `copies and checks have a result`(function: Function) throws {
        let (backup, compacted) = (folder.file("backup"), folder.file("compacted"))
        let store = try migrate(function) { coordinator in
            let store = try coordinator.sealedStore
            try store.backUp(to: backup)
            try store.compact(into: compacted)
            #expect(try store.check().isEmpty)
            #expect(try store.repair([.derivedData, .references]).check.problems.isEmpty)
        }
        #expect(try store.objects("Trip").count == 2)
        // A copy has the committed state.
        for url in [backup, compacted] { #expect(try MigratingStore(url, Self.first).objects("Trip").count == 2) }
    }

    @Test(arguments: Function.allCases) func `a second opening that migrates the store is an error at once`(
        function: Function
    ) throws {
        let url = url
        let store = try migrate(function) { _ in
            for stages in [[], try Self.stages()] {
                #expect(throws: DatabaseError.nestedWrite(path: url.path)) {
                    try MigratingStore(url, Self.second, options: [SealedStore.migrationStagesOption: stages])
                }
            }
        }
        #expect(try store.objects("Trip").count == 2)
    }

    @Test(arguments: Function.allCases) func `a second container reads the state before the stage and does not write`(
        function: Function
    ) throws {
        let url = url
        let store = try migrate(function) { _ in
            let second = try MigratingStore(url, Self.first)
            #expect(try second.values("Trip", "name") == [.text("a"), .text("b")])
            second.insert("Trip", ["name": .text("c")])
            let refusal = DatabaseError.nestedWrite(path: url.path)
            #expect(throws: refusal) { try second.context.save() }
            #expect(throws: refusal) { try second.store().compact() }
            #expect(throws: refusal) { try second.store().changeKey(to: .passphrase("another key")) }
            try second.store().lock()
            try second.store().unlock(with: .raw(Self.key))
            try second.close()
        }
        #expect(try store.objects("Trip").count == 2)
    }
}
