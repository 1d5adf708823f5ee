@testable import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph
import TestSupport
import Testing

@testable import SealedStore

/// Operations that open a file by its URL while another database replaces the file.
@Suite struct ReplacedStoreTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let key = Array(repeating: 5 as UInt8, count: 32)
    private static let first = [
        EntityDescription(
            "Trip",
            attributes: [.init("name", .string), .init("image", .data, isOptional: true)],
            indexes: [.init(["name"])]
        )
    ]

    private func write() throws {
        let store = try MigratingStore(url, Self.first)
        for number in 0..<20 {
            store.insert("Trip", ["name": .text("\(number)"), "image": .blob(Data(repeating: 1, count: 5000))])
        }
        try store.saveAndClose()
    }

    /// An opening that has to write to the file.
    enum Opening: CaseIterable {
        case migration, history, index, version

        func open(_ url: URL) throws -> MigratingStore {
            let trip = ReplacedStoreTests.first[0]
            var changed = trip
            var options: [String: any Sendable] = [:]
            switch self {
            case .migration: changed.attributes.append(.init("days", .int64, isOptional: true))
            case .history: options[SealedStore.historyOption] = HistoryOptions(identifiesObjects: true)
            case .index: changed.indexes.append(.init(["name", "image"]))
            case .version: options[SealedStore.modelVersionOption] = "2.0"
            }
            return try MigratingStore(url, [changed], options: options)
        }
    }

    @Test(arguments: Opening.allCases, [true, false])
    func `an opening that waits for a replacement continues with the new file`(opening: Opening, changesKey: Bool)
        throws
    {
        try write()
        let url = url
        let names = try result(duringReplacementWith: changesKey ? .raw(Self.key) : nil) {
            let store = try opening.open(url)
            let names = try store.values("Trip", "name")
            #expect(try store.problems() == [])
            try store.close()
            return names
        }
        #expect(names.count == 20)
    }

    @Test func `a repair of a file that waits for a replacement repairs the new file`() throws {
        try write()
        let store = try MigratingStore(url, Self.first)
        let index = try #require(try store.definitions().first { $0.hasPrefix("CREATE INDEX") }.map(SQL.nameOfObject))
        try store.store().opened.database.write { try $0.execute("DROP INDEX \(SQL.quoted(index))") }
        try store.close()
        let url = url
        let report = try result(duringReplacementWith: nil) { try SealedStore.repair(url, key: .raw(Self.key)) }
        #expect(report.repaired.count == 1)
        #expect(report.check.problems == [])
    }

    @Test func `an import that waits for a replacement writes to the new file`() throws {
        try write()
        let (description, model) = (try MigratingStore.description(url), try ManagedObjectModel(entities: Self.first))
        let keys = try result(duringReplacementWith: nil) {
            try SealedStore.importing(into: description, for: model) { try $0.reserveKeys(2, of: model.entities[0]) }
        }
        #expect(keys.count == 2 && keys.lowerBound > 20)
    }

    /// Replaces the file while `open` runs.
    ///
    ///     this thread                            other thread
    ///     locks the file for writing
    ///     –                                      examines the file, and opens a connection to write
    ///     waits until it has two connections     waits for the lock
    ///     exchanges the files                    waits
    ///     unlocks the old file                   finds the new file
    private func result<R: Sendable>(
        duringReplacementWith key: EncryptionKey?,
        _ open: @escaping @Sendable () throws -> R
    ) throws -> R {
        let database = try Database(.file(url.path), key: .raw(Self.key), options: Self.options)
        let result = Guarded<Result<R, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        try database.replaceFile(key: key) { source, target, progress in
            let count = Self.descriptorCount(of: url)
            Thread.detachNewThread {
                let opened = Result { try open() }
                result.withLock { $0 = opened }
                end.signal()
            }
            while Self.descriptorCount(of: url) < count + 2, result.withLock({ $0 == nil }) { sched_yield() }
            try PageCopy.run(from: source, to: target, progress: progress)
        }
        end.wait()
        try database.close()
        return try #require(result.withLock { $0 }).get()
    }

    private static var options: Database.Options {
        Database.Options(
            applicationID: StoreFile.applicationID,
            newestUserVersion: Int32(StoreFormat.newest)
        )
    }

    /// The number of descriptors of this process that lead to a file.
    private static func descriptorCount(of url: URL) -> Int {
        var file = stat()
        guard stat(url.path, &file) == 0 else { return 0 }
        return (0..<4096).count { descriptor in
            var opened = stat()
            return fstat(Int32(descriptor), &opened) == 0
                && (opened.st_dev, opened.st_ino) == (file.st_dev, file.st_ino)
        }
    }

    // MARK: Stages

    private static let second = [
        EntityDescription("Trip", attributes: first[0].attributes + [.init("days", .int64, isOptional: true)])
    ]

    /// Puts the committed state of a store into the place of its file, as another program does that compacts it.
    private static func replaceFile(_ coordinator: PersistentStoreCoordinator, at url: URL) throws {
        let copy = url.appendingPathExtension("copy")
        try coordinator.sealedStore.backUp(to: copy)
        for suffix in ["-wal", "-shm"] { unlink(url.path + suffix) }
        try #require(rename(copy.path, url.path) == 0)
    }

    /// Opens the store with two versions after the first one, and code that replaces the file in the last stage.
    private func open(_ lastStage: @escaping StoreMigrationStage.Code) throws -> (calls: [String], error: (any Error)?)
    {
        let calls = Guarded<[String]>([])
        let stages = [
            StoreMigrationStage(try ManagedObjectModel(entities: Self.first), version: "1.0"),
            StoreMigrationStage(
                try ManagedObjectModel(entities: Self.first),
                version: "2.0",
                didMigrate: { _ in calls.withLock { $0.append("second") } }
            ),
            StoreMigrationStage(try ManagedObjectModel(entities: Self.second), version: "3.0") { coordinator in
                calls.withLock { $0.append("third") }
                try lastStage(coordinator)
            },
        ]
        do {
            let store = try MigratingStore(
                url,
                Self.second,
                options: [SealedStore.migrationStagesOption: stages]
            )
            #expect(try store.objects("Trip").count == 20)
            #expect(try store.problems() == [])
            try store.close()
            return (calls.withLock { $0 }, nil)
        } catch {
            return (calls.withLock { $0 }, error)
        }
    }

    @Test func `code of a stage that is committed does not run again in the new file`() throws {
        try write()
        let (url, isReplaced) = (url, Guarded(false))
        let result = try open { coordinator in
            let isFirst = isReplaced.withLock { done in
                defer { done = true }
                return !done
            }
            if isFirst { try Self.replaceFile(coordinator, at: url) }
        }
        #expect(result.error == nil)
        #expect(result.calls == ["second", "third", "third"])
    }

    @Test func `an opening ends if the file is replaced again and again`() throws {
        try write()
        let url = url
        let result = try open { try Self.replaceFile($0, at: url) }
        #expect(result.error as? DatabaseError == .moved(path: url.path))
        #expect(result.calls == ["second"] + Array(repeating: "third", count: 10))
    }

    @Test func `an opening whose file is removed ends, and creates no file`() throws {
        try write()
        let url = url
        let result = try open { _ in for suffix in ["-wal", "-shm", ""] { unlink(url.path + suffix) } }
        #expect(result.error as? DatabaseError == .moved(path: url.path))
        #expect(result.calls == ["second", "third"])
        #expect(try folder.names() == [])
    }
}
