import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Fetches that are large enough for a parallel scan.
@Suite struct ConcurrentFetchTests {
    private let folder = TemporaryFolder()

    @Test func `a fetch returns each row once, in the order of keys and of one state, beside a steady writer`() throws {
        let library = try Library(folder.file("library.store"))
        let count = OpenStore.concurrentRows + 3616
        for number in 0..<count { library.insert("Tag", ["label": .text("tag \(number)")]) }
        try library.context.save()
        // Another coordinator of the same file, as in another process.
        let other = try Library(folder.file("library.store"))
        let isOver = Guarded(false)
        let end = DispatchSemaphore(value: 0)
        let opened = try other.opened()
        let writer = Thread {
            var round = 0
            while !isOver.withLock({ $0 }) {
                round += 1
                let sql = "UPDATE \"Tag\" SET \"label\" = 'round \(round)'"
                try? opened.database.write { try $0.execute(sql) }
            }
            end.signal()
        }
        writer.start()
        let context = ManagedObjectContext(coordinator: library.coordinator)
        for _ in 0..<12 {
            context.reset()
            let tags = try context.fetch(FetchRequest(library.entity("Tag")), as: ManagedObject.self)
            #expect(tags.map(\.managedObjectID.key) == (1...Int64(count)).map(\.self))
            #expect(Set(tags.map { $0["label"] }).count == (tags[0]["label"] == .text("tag 0") ? count : 1))
        }
        isOver.withLock { $0 = true }
        end.wait()
        #expect(try library.check() == [])
    }

    @Test func `rows deleted or added since the last fetch do not matter`() throws {
        let library = try Library(folder.file("library.store"))
        let count = OpenStore.concurrentRows + 1000
        for number in 0..<count { library.insert("Tag", ["label": .text("tag \(number)")]) }
        try library.context.save()
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let keys = {
            try context.fetch(FetchRequest(library.entity("Tag")), as: ManagedObject.self).map(\.managedObjectID.key)
        }
        #expect(try keys() == (1...Int64(count)).map(\.self))
        let opened = try library.opened()
        try opened.database.write { connection in
            try connection.execute("DELETE FROM \"Tag\" WHERE \"_id\" % 3 = 0 OR \"_id\" < 9000")
            try connection.execute("INSERT INTO \"Tag\" (\"_id\", \"label\") VALUES (1000000, 'late')")
        }
        context.reset()
        let expected = (9000...Int64(count)).filter { $0 % 3 != 0 } + [1_000_000]
        #expect(try keys() == expected)
        context.reset()
        #expect(try keys() == expected)
    }
}
