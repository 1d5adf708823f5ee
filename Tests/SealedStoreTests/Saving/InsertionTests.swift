import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The statements that insert rows, many of which may share one.
@Suite struct InsertionTests {
    private let folder = TemporaryFolder()

    /// Samples and series in one table without an index; marks with an index.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Sample",
                attributes: [
                    AttributeDescription("number", .int64), AttributeDescription("weight", .double),
                    AttributeDescription("name", .string, isOptional: true),
                    AttributeDescription("bytes", .data, isOptional: true),
                    AttributeDescription("identity", .uuid, isOptional: true),
                ]
            ),
            EntityDescription(
                "Series",
                superentity: "Sample",
                attributes: [AttributeDescription("length", .int64)]
            ),
            EntityDescription(
                "Mark",
                attributes: [AttributeDescription("label", .string)],
                indexes: [FetchIndexDescription(["label"])]
            ),
            EntityDescription(
                "Wide",
                attributes: (0..<40).map { AttributeDescription("value\($0)", .int64) }
            ),
        ])
    }

    private func open() throws -> Library { try Library(folder.file("samples.store"), model: Self.model()) }

    /// Values of all types, with special ones: missing values, a negative zero, texts of several forms.
    private static func values(_ number: Int) -> [String: Value] {
        var values: [String: Value] = [
            "number": .integer(Int64(number)),
            "weight": .real(number % 7 == 0 ? -0.0 : Double(number) / 3),
        ]
        if number % 3 != 0 { values["name"] = .text(number % 10 == 1 ? "Cafe\u{301} \(number)" : "Café \(number)") }
        if number % 5 != 0 { values["bytes"] = .blob(Data(repeating: UInt8(number % 256), count: number % 90)) }
        if number % 2 == 0 {
            values["identity"] = .uuid(
                UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256)))
            )
        }
        return values
    }

    private func statementsRun(inserting count: Int, of entity: String, _ values: (Int) -> [String: Value]) throws
        -> Int
    {
        let library = try open()
        for number in 0..<count { library.insert(entity, values(number)) }
        let before = try library.statistics()
        try library.context.save()
        return (try library.statistics() - before).statementsRun
    }

    @Test(arguments: [1, 255, 256, 257, 1_000, 3_333]) func `all rows survive a round trip`(count: Int) throws {
        do {
            let library = try open()
            for number in 0..<count { library.insert("Sample", Self.values(number)) }
            try library.context.save()
            #expect(try library.check().isEmpty)
        }
        let library = try open()
        let request = FetchRequest(library.entity("Sample"))
        let samples = try library.context.fetch(request, as: ManagedObject.self)
        #expect(samples.count == count)
        for (number, sample) in samples.enumerated() {
            let values = Self.values(number)
            #expect(sample["number"] == values["number"])
            #expect(sample["name"] == values["name"] ?? .null)
            #expect(sample["bytes"] == values["bytes"] ?? .null)
            #expect(sample["identity"] == values["identity"] ?? .null)
            guard case .real(let weight) = sample["weight"], case .real(let expected)? = values["weight"] else {
                Issue.record("sample \(number) has no weight")
                continue
            }
            #expect(weight.bitPattern == expected.bitPattern)
        }
    }

    @Test func `texts of another form in a block are found by both forms`() throws {
        let library = try open()
        for number in 0..<1_000 { library.insert("Sample", Self.values(number)) }
        try library.context.save()
        let name = library.path("Sample", "name")
        let keys = try library.keys("Sample", .comparison(.equal, name, .literal(.text("Café 31"))))
        #expect(keys.count == 1)
        #expect(try library.keys("Sample", .comparison(.equal, name, .literal(.text("Cafe\u{301} 32")))).count == 1)
    }

    @Test func `rows of entities that share a table keep their entities`() throws {
        let library = try open()
        for number in 0..<2_000 {
            let isSeries = number >= 300 && number < 900 || number % 100 == 1
            let object = library.insert(isSeries ? "Series" : "Sample", Self.values(number))
            if isSeries { object["length"] = .integer(Int64(number)) }
        }
        try library.context.save()
        let series = try ManagedObjectContext(coordinator: library.coordinator)
            .fetch(FetchRequest(library.entity("Series")), as: ManagedObject.self)
        #expect(series.count == 600 + 14)
        #expect(series.allSatisfy { $0["length"] == $0["number"] })
    }

    @Test func `rows of a table without indexes share statements, others do not`() throws {
        let samples = try statementsRun(inserting: 1_000, of: "Sample", Self.values)
        // The rest of each chunk of rows is inserted one by one.
        #expect(samples < 200, "\(samples)")
        #expect(try statementsRun(inserting: 1_000, of: "Mark") { ["label": .text("\($0)")] } >= 1_000)
        let wide = try statementsRun(inserting: 1_000, of: "Wide") { number in
            Dictionary(uniqueKeysWithValues: (0..<40).map { ("value\($0)", .integer(Int64(number))) })
        }
        #expect(wide >= 1_000)
    }

    @Test func `a row that cannot be inserted rolls the whole save back`() throws {
        let library = try open()
        for number in 0..<1_000 { library.insert("Sample", Self.values(number)) }
        try library.opened().database.write { connection in
            try connection.withStatement(
                #"INSERT INTO "Sample" ("_id", "_entity", "number", "weight") VALUES (500, 0, 1, 1.0)"#
            ) { try $0.run() }
        }
        #expect(throws: (any Error).self) { try library.context.save() }
        #expect(try library.integers(#"SELECT count(*) FROM "Sample""#) == [1])
        #expect(library.context.insertedObjects.count == 1_000)
    }
}
