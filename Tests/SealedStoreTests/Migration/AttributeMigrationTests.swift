import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Attributes and entities that are added, removed, renamed or change their rules.
@Suite struct AttributeMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private func model(_ attributes: [AttributeDescription]) -> [EntityDescription] {
        [EntityDescription("Trip", attributes: attributes)]
    }

    private func write(_ attributes: [AttributeDescription], _ rows: [[String: Value]]) throws {
        let store = try MigratingStore(url, model(attributes))
        for row in rows { store.insert("Trip", row) }
        try store.saveAndClose()
    }

    private static let name = AttributeDescription("name", .string)

    @Test func `an added optional attribute has no value, and the table keeps its rows`() throws {
        try write([Self.name], [["name": .text("a")], ["name": .text("b")]])
        let next = model([Self.name, .init("days", .int64, isOptional: true)])
        let preview = try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: next)
        )
        #expect(preview.steps.map(\.kind) == [.addColumns, .recordModel])
        for _ in 0..<2 {
            let store = try MigratingStore(url, next)
            #expect(try store.values("Trip", "days") == [.null, .null])
            #expect(try store.values("Trip", "name") == [.text("a"), .text("b")])
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test(arguments: [
        (AttributeType.int64, Value.integer(.min)), (.int64, .integer(7)), (.double, .real(0.1)), (.double, .real(2.5)),
        (.double, .real(-.infinity)), (.double, .real(-0.0)), (.string, .text("it's \"so\"")), (.string, .text("a\0b")),
        (.string, .text("e\u{301}")),
        (.data, .blob(Data([0, 255]))), (.uuid, .uuid(UUID())), (.decimal, Decimal(1.25).storedValue),
        (.bool, .integer(1)),
    ])
    func `an added required attribute gets its default value`(type: AttributeType, value: Value) throws {
        try write([Self.name], [["name": .text("a")], ["name": .text("b")]])
        let next = model([Self.name, .init("extra", type, defaultValue: value)])
        let store = try MigratingStore(url, next)
        #expect(try store.values("Trip", "extra").map(\.text) == [value.text, value.text])
        store.insert("Trip", ["name": .text("c"), "extra": value])
        try store.context.save()
        #expect(try store.problems() == [])
        try store.close()
        let again = try MigratingStore(url, next, allowsMigration: false)
        let trip = again.entity("Trip")
        let condition = QueryExpression.comparison(.equal, .path(trip.propertiesByName["extra"]!), .literal(value))
        if type != .data { #expect(try again.context.count(FetchRequest(trip, predicate: condition)) == 3) }
        try again.close()
    }

    @Test func `a required attribute without a default value is refused with the number of rows`() throws {
        try write([Self.name], [["name": .text("a")], ["name": .text("b")]])
        let before = try folder.contents()
        let problems = try MigratingStore.refusal {
            _ = try MigratingStore(url, model([Self.name, .init("days", .int64)]))
        }
        #expect(problems == [MigrationProblem(entity: "Trip", property: "days", kind: .missingValue, rows: 2)])
        #expect(try folder.contents() == before)
    }

    @Test func `an attribute that becomes required gets its default value in rows without a value`() throws {
        try write(
            [Self.name, .init("days", .int64, isOptional: true)],
            [["name": .text("a"), "days": .integer(3)], ["name": .text("b")]]
        )
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, model([Self.name, .init("days", .int64)])) }
                == [MigrationProblem(entity: "Trip", property: "days", kind: .missingValue, rows: 1)]
        )
        let store = try MigratingStore(url, model([Self.name, .init("days", .int64, defaultValue: .integer(9))]))
        #expect(try store.values("Trip", "days") == [.integer(3), .integer(9)])
        #expect(try store.problems() == [])
    }

    @Test(arguments: [Value.integer(300), .integer(-129), .text("5"), .real(1)])
    func `a default value that the type does not hold is ignored`(value: Value) throws {
        try write([Self.name], [["name": .text("a")]])
        #expect(throws: ModelError.self) {
            try ManagedObjectModel(entities: model([.init("days", .int8, defaultValue: value)]))
        }
        let problems = try MigratingStore.refusal {
            _ = try MigratingStore(
                url,
                model([Self.name, .init("days", .int8)]),
                options: [SealedStore.defaultValuesOption: { _, _ in value } as SealedStore.DefaultValues]
            )
        }
        #expect(problems == [MigrationProblem(entity: "Trip", property: "days", kind: .missingValue, rows: 1)])
    }

    @Test(arguments: [AttributeType.decimal, .double, .float])
    func `texts with exponents beyond every type are counted`(type: AttributeType) throws {
        let texts = [
            "1e-9223372036854775808", "1e9223372036854775807", "1e-99999999999999999999", "1e99999", "0e99999",
        ]
        try write([Self.name], texts.map { ["name": .text($0)] })
        let problems = try MigratingStore.refusal { _ = try MigratingStore(url, model([.init("name", type)])) }
        #expect(problems.map(\.rows) == [4])
    }

    @Test func `default values can come from an option`() throws {
        try write([Self.name], [["name": .text("a")]])
        let values: SealedStore.DefaultValues = { entity, attribute in
            entity == "Trip" && attribute == "days" ? .integer(5) : nil
        }
        let store = try MigratingStore(
            url,
            model([Self.name, .init("days", .int64)]),
            options: [SealedStore.defaultValuesOption: values]
        )
        #expect(try store.values("Trip", "days") == [.integer(5)])
    }

    @Test func `renamed attributes keep their values, also when two of them swap their names`() throws {
        try write(
            [.init("a", .string), .init("b", .string)],
            [["a": .text("1"), "b": .text("2")]]
        )
        let swapped = [
            AttributeDescription("a", .string, renamingIdentifier: "b"),
            AttributeDescription("b", .string, renamingIdentifier: "a"),
        ]
        for _ in 0..<2 {
            // The second time nothing is renamed: the store has recorded the identifiers.
            let store = try MigratingStore(url, model(swapped))
            #expect(try store.values("Trip", "a") == [.text("2")])
            #expect(try store.values("Trip", "b") == [.text("1")])
            #expect(try store.definitions().contains { $0.contains(#""b" TEXT, "a" TEXT"#) })
            try store.close()
        }
        let store = try MigratingStore(
            url,
            model([.init("title", .string, renamingIdentifier: "a"), .init("b", .string, renamingIdentifier: "a")])
        )
        #expect(try store.values("Trip", "title") == [.text("2")])
        #expect(try store.values("Trip", "b") == [.text("1")])
        #expect(try store.problems() == [])
    }

    @Test(arguments: [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
    func `a renamed attribute takes the earlier name of another renamed one`(order: [String]) throws {
        try write(
            order.map { AttributeDescription($0, .string) },
            [["a": .text("1"), "b": .text("2"), "c": .text("3")]]
        )
        let renamed = ["a": "b", "b": "c", "c": "D"]
        let next = order.map { AttributeDescription(renamed[$0]!, .string, renamingIdentifier: $0) }
        let preview = try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: model(next))
        )
        #expect(preview.steps.map(\.kind) == [.renameColumns, .recordModel])
        let store = try MigratingStore(url, model(next))
        #expect(try store.values("Trip", "b") == [.text("1")])
        #expect(try store.values("Trip", "c") == [.text("2")])
        #expect(try store.values("Trip", "D") == [.text("3")])
        #expect(try store.problems() == [])
    }

    @Test(arguments: [["A", "B", "C"], ["C", "B", "A"], ["B", "C", "A"]])
    func `a renamed entity takes the earlier name of another renamed one`(order: [String]) throws {
        // The join tables are renamed as the tables are.
        let entity = { (name: String, earlier: String?) in
            EntityDescription(
                name,
                attributes: [Self.name],
                relationships: [.init("all", to: name, .many)],
                renamingIdentifier: earlier
            )
        }
        let first = try MigratingStore(url, order.map { entity($0, nil) })
        for name in order {
            let object = first.insert(name, ["name": .text(name)])
            object.setMembers([object], forRelationship: "all")
        }
        try first.saveAndClose()
        let renamed = ["A": "B", "B": "C", "C": "D"]
        let store = try MigratingStore(url, order.map { entity(renamed[$0]!, $0) })
        for (old, new) in renamed {
            #expect(try store.values(new, "name") == [.text(old)])
            #expect(try store.objects(new).first?.members(forRelationship: "all").count == 1)
        }
        #expect(try store.problems() == [])
    }

    @Test func `a new attribute with the earlier name of a renamed one is new`() throws {
        try write([.init("a", .string)], [["a": .text("1")]])
        let next = model([.init("a", .string, isOptional: true), .init("b", .string, renamingIdentifier: "a")])
        for _ in 0..<2 {
            let store = try MigratingStore(url, next)
            #expect(try store.values("Trip", "a") == [.null])
            #expect(try store.values("Trip", "b") == [.text("1")])
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test func `attributes that keep their names keep their values, although one names the other as its earlier name`()
        throws
    {
        try write([.init("a", .string), .init("b", .string)], [["a": .text("1"), "b": .text("2")]])
        let next = model([.init("a", .string), .init("b", .string, renamingIdentifier: "a")])
        let store = try MigratingStore(url, next)
        #expect(try store.values("Trip", "a") == [.text("1")])
        #expect(try store.values("Trip", "b") == [.text("2")])
        #expect(try store.problems() == [])
    }

    @Test func `a plan drops a removed attribute, and negative zeros of other attributes stay`() throws {
        let first: [AttributeDescription] = [.init("x", .double), .init("y", .double), Self.name]
        try write(
            first,
            [
                ["x": .real(-0.0), "y": .real(-0.0), "name": .text("a")],
                ["x": .real(1), "y": .real(0), "name": .text("b")],
            ]
        )
        let next = model([.init("y", .double), .init("z", .double, isOptional: true), Self.name])
        let store = try MigratingStore(url, next, options: MigratingStore.plan(model(first), next))
        #expect(try store.values("Trip", "y").map(\.text) == ["-0.0", "0.0"])
        #expect(try store.values("Trip", "z") == [.null, .null])
        #expect(try !store.definitions().contains { $0.contains(#""x""#) })
        #expect(try store.problems() == [])
    }

    @Test func `a renamed entity cannot take the name of one with objects, unless a plan removes that`() throws {
        let both = [
            EntityDescription("Trip", attributes: [Self.name]), EntityDescription("Note", attributes: [Self.name]),
        ]
        let first = try MigratingStore(url, both)
        first.insert("Trip", ["name": .text("a")])
        first.insert("Note", ["name": .text("b")])
        try first.saveAndClose()
        let renamed = [EntityDescription("Note", attributes: [Self.name], renamingIdentifier: "Trip")]
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, renamed) }
                == [MigrationProblem(entity: "Note", property: nil, kind: .lost, rows: 1)]
        )
        let store = try MigratingStore(url, renamed, options: MigratingStore.plan(both, renamed))
        #expect(try store.values("Note", "name") == [.text("a")])
        #expect(try store.definitions().contains { $0.hasPrefix(#"CREATE TABLE "Note""#) })
        #expect(try store.problems() == [])
        store.insert("Note", ["name": .text("c")])
        try store.context.save()
        #expect(try store.values("Note", "name") == [.text("a"), .text("c")])
    }

    @Test func `the migrated store has the content and the schema of a new one`() throws {
        let first: [AttributeDescription] = [
            .init("a", .int16), .init("b", .string, isOptional: true), .init("gone", .data),
        ]
        try write(
            first,
            (1...100).map {
                ["a": .integer($0), "b": $0 % 3 == 0 ? .null : .text("text \($0)"), "gone": .blob(Data([1]))]
            }
        )
        let next = [
            EntityDescription(
                "Trip",
                attributes: [.init("a", .string), .init("c", .string, isOptional: true, renamingIdentifier: "b")],
                indexes: [.init(["a"]), .init(["c"], kind: .fullText(.init()))],
                uniquenessConstraints: [["a"]]
            )
        ]
        let other = try MigratingStore(folder.file("b.store"), next)
        for number in 1...100 {
            other.insert("Trip", ["a": .text("\(number)"), "c": number % 3 == 0 ? .null : .text("text \(number)")])
        }
        try other.context.save()
        let store = try MigratingStore(url, next, options: MigratingStore.plan(model(first), next))
        #expect(try store.content() == other.content())
        #expect(Set(try store.definitions()) == Set(try other.definitions()))
        #expect(try store.problems() == [])
        var request = FetchRequest(store.entity("Trip"))
        request.search = FullTextSearch("17")
        #expect(try store.context.fetchIDs(request).map(\.key) == [17])
    }

    @Test func `negative zero that a table cannot mark is counted`() throws {
        let reals = (1...31).map { AttributeDescription("r\($0)", .double) }
        let values = Dictionary(uniqueKeysWithValues: reals.map { ($0.name, Value.real(-0.0)) })
        let first = reals + [.init("text", .string)]
        try write(first, [values.merging(["text": .text("-0.0")]) { $1 }])
        let next = model(reals + [.init("text", .double)])
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, next) }
                == [MigrationProblem(entity: "Trip", property: "text", kind: .negativeZero, rows: 1)]
        )
        let fewer = model(reals.dropLast() + [.init("text", .double)])
        let store = try MigratingStore(url, fewer, options: MigratingStore.plan(model(first), fewer))
        #expect(try store.values("Trip", "text").map(\.text) == ["-0.0"])
        #expect(try store.values("Trip", "r1").map(\.text) == ["-0.0"])
        #expect(try store.problems() == [])
    }
}
