import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Large values beside the rows of their objects.
@Suite struct LargeValueTests {
    private let folder = TemporaryFolder()

    private func album(_ name: String = "a", model: ManagedObjectModel? = nil) throws -> Album {
        try Album(folder.file("\(name).store"), model: model)
    }

    @Test func `a change beside a large value writes none of its pages`() throws {
        let album = try album()
        for number in 0..<20 { album.insert(Album.bytes(300_000), number: number) }
        try album.context.save()
        func logSize() throws -> Int64 {
            let log = URL(filePath: album.url.path + "-wal")
            return (try? FileManager.default.attributesOfItem(atPath: log.path)[.size] as? NSNumber)?.int64Value ?? 0
        }
        try album.store.opened.database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        let context = ManagedObjectContext(coordinator: album.coordinator)
        let before = try logSize()
        for round in 1...5 {
            for photo in try album.photos(context) { photo["name"] = .text("round \(round)") }
            try context.save()
        }
        #expect(try logSize() - before < 1_000_000)
        #expect(try album.images().values.allSatisfy { $0 == Album.bytes(300_000) })
        #expect(try album.problems() == [])
    }

    @Test func `only a file with a large value has the table and the format`() throws {
        let album = try album()
        album.insert(Album.bytes(4096))
        try album.context.save()
        #expect(try album.largeValueCount() == nil)
        #expect(try album.number("PRAGMA user_version") == 1)
        album.insert(Album.bytes(4097))
        try album.context.save()
        #expect(try album.largeValueCount() == 1)
        #expect(try album.number("PRAGMA user_version") == 2)
        try album.close()
        let again = try Album(album.url)
        #expect(again.store.metadata.formatVersion == 2)
        #expect(try again.problems() == [])
    }

    @Test(arguments: [0, 1, 2])
    func `random changes keep each value once`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let history: [String: any Sendable] = seed == 2 ? [SealedStore.historyOption: HistoryOptions()] : [:]
        let album = try Album(folder.file("r.store"), options: history)
        let other = try Album(album.url, options: history)
        var expected: [Int64: Data?] = [:]
        var next = 0
        func image() -> Data? {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: nil
            case 1: Album.bytes(Int.random(in: 0...4096, using: &random))
            case 2: Album.reference(Int64.random(in: 0...5, using: &random))
            default: Album.bytes(Int.random(in: 4097...40_000, using: &random), next)
            }
        }
        for _ in 0..<120 {
            let context = ManagedObjectContext(
                coordinator: Bool.random(using: &random) ? album.coordinator : other.coordinator
            )
            context.mergePolicy = .mergeByPropertyObjectTrump
            let photos = try album.photos(context)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    let photo = ManagedObject(entity: context.model.entitiesByName["Photo"]!, insertInto: context)
                    let image = image()
                    photo["image"] = image.map(Value.blob) ?? .null
                    photo["thumbnail"] = .blob(Album.reference(3))
                    photo["number"] = .integer(Int64(next))
                    expected[Int64(next)] = image
                    next += 1
                }
            case 2, 3:
                for photo in photos.shuffled(using: &random).prefix(5) {
                    guard case .integer(let number) = photo["number"] else { continue }
                    let image = image()
                    photo["image"] = image.map(Value.blob) ?? .null
                    expected[number] = image
                }
            case 4: for photo in photos.shuffled(using: &random).prefix(5) { photo["name"] = .text("\(next)") }
            case 5:
                for photo in photos.shuffled(using: &random).prefix(3) {
                    guard case .integer(let number) = photo["number"] else { continue }
                    expected[number] = nil
                    context.delete(photo)
                }
            case 6:
                let bound = Int64.random(in: 0...Int64(next + 1), using: &random)
                let entity = context.model.entitiesByName["Photo"]!
                let isBelow = QueryExpression.comparison(.less, album.path("number"), .literal(.integer(bound)))
                if Bool.random(using: &random) {
                    let image = image()
                    let value = QueryExpression.literal(image.map(Value.blob) ?? .null)
                    _ = try context.execute(
                        BatchUpdateRequest(entity, propertiesToUpdate: ["image": value], predicate: isBelow)
                    )
                    for number in expected.keys where number < bound { expected[number] = image }
                } else if bound < Int64(next) / 3 {
                    _ = try context.execute(BatchDeleteRequest(entity, predicate: isBelow))
                    for number in expected.keys where number < bound { expected[number] = nil }
                }
            default:
                let first = photos.first
                if let first, case .integer(let number) = first["number"] {
                    context.undoManager = UndoManager()
                    context.delete(first)
                    try context.save()
                    context.undo()
                    _ = number
                }
            }
            try context.save()
        }
        #expect(try album.images() == expected.compactMapValues(\.self))
        let references = #"SELECT count(*) FROM "Photo" WHERE large_value_key("image") IS NOT NULL"#
        let thumbnails = #"SELECT count(*) FROM "Photo" WHERE large_value_key("thumbnail") IS NOT NULL"#
        let referenceCount = try album.number(references) + album.number(thumbnails)
        #expect(try album.largeValueCount() == referenceCount)
        #expect(try album.problems() == [])
        try album.store.compact()
        #expect(try album.images() == expected.compactMapValues(\.self))
        _ = try album.coordinator.eraseStores()
        #expect(try album.largeValueCount() == 0)
        #expect(try album.problems() == [])
    }

    @Test func `values that look like references are values`() throws {
        let album = try album()
        album.insert(Album.reference(1), thumbnail: Album.reference(2), number: 1)
        try album.context.save()
        #expect(try album.largeValueCount() == 2)
        album.insert(Album.bytes(10_000), thumbnail: Album.reference(1), number: 2)
        try album.context.save()
        #expect(try album.images() == [1: Album.reference(1), 2: Album.bytes(10_000)])
        #expect(try album.images("thumbnail") == [1: Album.reference(2), 2: Album.reference(1)])
        #expect(try album.largeValueCount() == 4)
        #expect(try album.problems() == [])
    }

    @Test func `a value that looks like a reference stays a value beside the first large one`() throws {
        let album = try album()
        // The first value of the statement has the form, and the last one is large.
        album.insert(Album.bytes(10_000), thumbnail: Album.reference(1), number: 1)
        for number in 2..<40 { album.insert(Album.bytes(10), thumbnail: Album.reference(1), number: number) }
        try album.context.save()
        #expect(try album.images()[1] == Album.bytes(10_000))
        #expect(try album.images("thumbnail").values.allSatisfy { $0 == Album.reference(1) })
        #expect(try album.largeValueCount() == 40)
        for photo in try album.photos().dropFirst() { album.context.delete(photo) }
        try album.context.save()
        #expect(try album.images() == [1: Album.bytes(10_000)])
        #expect(try album.problems() == [])
    }

    @Test func `predicates and dictionaries have the values`() throws {
        let album = try album()
        for number in 0..<3 { album.insert(Album.bytes(10_000, number), number: number) }
        album.insert(nil, number: 3)
        album.insert(Album.bytes(10), number: 4)
        try album.context.save()
        let context = ManagedObjectContext(coordinator: album.coordinator)
        let entity = context.model.entitiesByName["Photo"]!
        func count(_ comparison: QueryExpression.Comparison, _ value: Value) throws -> Int {
            let predicate = QueryExpression.comparison(comparison, album.path("image"), .literal(value))
            return try context.count(FetchRequest(entity, predicate: predicate))
        }
        #expect(try count(.equal, .blob(Album.bytes(10_000, 1))) == 1)
        #expect(try count(.equal, .blob(Album.bytes(10))) == 1)
        #expect(try count(.notEqual, .blob(Album.bytes(10_000, 1))) == 4)
        #expect(try count(.equal, .null) == 1)
        #expect(try count(.notEqual, .null) == 4)
    }

    /// Writes the images into the rows, as an earlier version has done.
    private func makeOld(_ album: Album) throws {
        try album.store.opened.database.write { connection in
            try connection.execute(
                #"""
                UPDATE "Photo" SET "image" = (SELECT "value" FROM "_large" WHERE "_id" = large_value_key("image")) \#
                WHERE large_value_key("image") IS NOT NULL;
                DROP TABLE "_large"; PRAGMA user_version = 1;
                UPDATE "_metadata" SET "value" = '1' WHERE "key" = 'format'
                """#
            )
        }
        try album.close()
    }

    @Test(arguments: [false, true])
    func `large values in the rows of an old file are read and moved`(compacts: Bool) throws {
        let old = try album()
        for number in 0..<6 { old.insert(number == 5 ? nil : Album.bytes(50_000, number), number: number) }
        try old.context.save()
        let images = try old.images()
        try makeOld(old)
        let album = try Album(old.url)
        #expect(try album.largeValueCount() == nil)
        #expect(try album.images() == images)
        #expect(try album.problems() == [])
        if compacts {
            try album.store.compact()
            #expect(try album.largeValueCount() == 5)
        } else {
            for photo in try album.photos().prefix(2) { photo["name"] = .text("changed") }
            try album.context.save()
            #expect(try album.largeValueCount() == 2)
        }
        #expect(try album.images() == images)
        #expect(try album.problems() == [])
    }

    @Test func `migrations keep, rename, convert and remove large values`() throws {
        let album = try album()
        for number in 0..<4 { album.insert(Album.bytes(20_000, number), number: number) }
        try album.context.save()
        let images = try album.images()
        try album.close()
        let renamed = try Album(
            album.url,
            model: Album.model("picture", from: "image", others: [.init("size", .int64, isOptional: true)])
        )
        #expect(try renamed.images("picture") == images)
        #expect(try renamed.problems() == [])
        try renamed.close()
        let plain = try Album(
            album.url,
            model: Album.model("picture", isLarge: false, others: [.init("size", .int64, isOptional: true)])
        )
        #expect(try plain.images("picture") == images)
        for photo in try plain.photos() { photo["name"] = .text("x") }
        try plain.context.save()
        #expect(try plain.images("picture") == images)
        #expect(try plain.problems() == [])
        for photo in try plain.photos().prefix(1) { photo["picture"] = .blob(Album.bytes(30_000)) }
        try plain.context.save()
        #expect(try plain.largeValueCount() == 3)
        #expect(try plain.problems() == [])
    }

    @Test func `a salvage recovers large values, and a check finds lost ones`() throws {
        let album = try album()
        for number in 0..<4 { album.insert(Album.bytes(20_000, number), number: number) }
        try album.context.save()
        let images = try album.images()
        try album.store.opened.database.write { try $0.execute(#"DELETE FROM "_large" WHERE "_id" = 2"#) }
        #expect(try album.store.check().map(\.kind) == [.lostLargeValue])
        let photos = try album.photos(ManagedObjectContext(coordinator: album.coordinator))
        #expect(photos.map { $0["image"] == .null } == [false, true, false, false])
        try album.close()
        let report = try SealedStore.salvage(album.url, key: Library.key, to: folder.file("new.store"))
        #expect(report.entities.first { $0.entity == "Photo" }?.lostValues == ["image": 1])
        let salvaged = try Album(folder.file("new.store"))
        #expect(try salvaged.images() == images.filter { $0.key != 1 })
        #expect(try salvaged.problems() == [])
    }

    @Test func `values that belong to no object are found and removed`() throws {
        let album = try album()
        album.insert(Album.bytes(20_000))
        try album.context.save()
        try album.store.opened.database.write { try $0.execute(#"INSERT INTO "_large" ("value") VALUES (x'00')"#) }
        #expect(try album.store.check().map(\.kind) == [.unusedLargeValues])
        _ = try album.store.repair([.derivedData, .references])
        #expect(try album.problems() == [])
        #expect(try album.largeValueCount() == 1)
    }
}
