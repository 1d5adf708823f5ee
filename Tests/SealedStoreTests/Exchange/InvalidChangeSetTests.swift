import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Change sets that no store makes: each is refused with an error that names the place, and changes nothing.
@Suite("Invalid change sets") struct InvalidChangeSetTests {
    private let folder = TemporaryFolder()
    private let store: Branch
    private let party: UUID
    private let order: UUID

    init() throws {
        store = try Branch(folder.file("store"))
        let customer = try store.insert("Party", ["code": "a"])
        party = try #require(try store.identifier(customer))
        order = try #require(try store.identifier(store.insert("Order", ["number": 1], ["customer": customer])))
    }

    private typealias Values = [String: ChangeSet.PropertyValue]

    private func change(_ entity: String, _ kind: ChangeSet.Change.Kind, _ values: Values, _ id: UUID = UUID())
        -> ChangeSet.Change
    {
        ChangeSet.Change(identifier: id, entity: entity, kind: kind, values: values)
    }

    private func changeSet(_ changes: [ChangeSet.Change], sequence: Int64 = 1) -> ChangeSet {
        ChangeSet(
            id: UUID(),
            origin: UUID(),
            sequence: sequence,
            timestamp: Date(),
            authors: [],
            modelHash: store.coordinator.model.exchangeHash,
            changes: changes
        )
    }

    private func reason(_ changes: ChangeSet.Change...) throws -> ExchangeError.Problem.Reason? {
        let content = try store.content()
        var reason: ExchangeError.Problem.Reason?
        do {
            try store.coordinator.apply(changeSet(changes), mergePolicy: .mergeByPropertyObjectTrump)
        } catch ExchangeError.invalidChangeSet(let problem) {
            reason = problem.reason
        }
        #expect(try store.content() == content)
        #expect(try store.coordinator.exchangeState().position == 0)
        #expect(try store.store.check() == [])
        return reason
    }

    /// Values of each type that are not the stored form of one of its values.
    private static let unfitting: [(AttributeType, Value, sql: String)] = [
        (.float, .real(1e300), "1e300"), (.url, .text("http://[::1"), "'http://[::1'"),
        (.decimal, .blob(Data(repeating: 0xFF, count: 40)), "x'\(String(repeating: "ff", count: 40))'"),
        // The digit 5 with a pair of zeros behind it.
        (.decimal, .blob(Data([3, 0x80, 1, 51, 1, 0])), "x'038001330100'"), (.int8, .integer(128), "128"),
        (.uint32, .integer(-1), "-1"), (.bool, .integer(2), "2"), (.uuid, .blob(Data([1, 2])), "x'0102'"),
        (.composite, .text(#"{"a":"#), "'{\"a\":'"), (.composite, .text(""), "''"),
    ]

    private static func typesModel() -> [EntityDescription] {
        let types: [AttributeType] = [
            .float, .url, .decimal, .int8, .uint32, .bool, .uuid, .composite, .string, .double,
        ]
        return [EntityDescription("Thing", attributes: types.map { .init($0.rawValue, $0, isOptional: true) })]
    }

    @Test(arguments: unfitting.indices)
    func `a value that its type cannot hold is refused by saves and received changes, and found by the check`(
        index: Int
    ) throws {
        let (type, value, sql) = Self.unfitting[index]
        let things = try Branch(folder.file("things"), declarations: Self.typesModel())
        let thing = try things.insert("Thing", [:])
        let identifier = try #require(try things.identifier(thing))
        let changes = ChangeSet(
            id: UUID(),
            origin: UUID(),
            sequence: 1,
            timestamp: Date(),
            authors: [],
            modelHash: things.coordinator.model.exchangeHash,
            changes: [change("Thing", .update, [type.rawValue: .attribute(value)], identifier)]
        )
        let problem = ExchangeError.Problem(
            .unfittingValue,
            identifier: identifier,
            entity: "Thing",
            property: type.rawValue
        )
        #expect(throws: ExchangeError.invalidChangeSet(problem)) { try things.coordinator.apply(changes) }
        #expect(try things.coordinator.exchangeState().position == 0)
        let refusal = #expect(throws: ObjectGraphError.self) { try things.set(thing, type.rawValue, value) }
        if case .validation(let problems)? = refusal {
            #expect(problems.map(\.reason) == [.notRepresentable])
        } else {
            Issue.record("\(refusal.map { "\($0)" } ?? "no error")")
        }
        things.context.rollback()
        #expect(throws: ObjectGraphError.self) {
            try things.context.execute(
                BatchUpdateRequest(things.entity("Thing"), propertiesToUpdate: [type.rawValue: .literal(value)])
            )
        }
        #expect(try things.store.check() == [])
        // Another program stores the value.
        try things.store.opened.database.write { try $0.execute(#"UPDATE "Thing" SET "\#(type.rawValue)" = \#(sql)"#) }
        let found = StoreProblem(.invalidValue, entity: "Thing", property: type.rawValue, firstKey: 1)
        #expect(try things.store.check() == [found])
        #expect(throws: SealedStoreError.damagedRow(entity: "Thing", property: type.rawValue)) {
            try things.coordinator.changeSet()
        }
    }

    @Test func `a computed value that its type cannot hold is refused`() throws {
        let things = try Branch(folder.file("things"), declarations: Self.typesModel())
        _ = try things.insert("Thing", ["float": .real(3e38), "double": .real(1e300)])
        let float = try #require(things.entity("Thing").propertiesByName["float"])
        let product = QueryExpression.arithmetic(.multiply, .path(float), .literal(.real(1e9)))
        #expect(throws: ObjectGraphError.self) {
            try things.context.execute(
                BatchUpdateRequest(things.entity("Thing"), propertiesToUpdate: ["float": product])
            )
        }
        #expect(try things.store.check() == [])
    }

    @Test func `the extremes of each type are representable`() {
        let decimals = [
            Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, .pi, .nan, 0, -1.5,
            Decimal(string: "12345678901234567890123456789012345678")!,
        ]
        for decimal in decimals { #expect(decimal.storedValue.isRepresentable(as: .decimal), "\(decimal)") }
        for float in [Float.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, -0.0] {
            #expect(float.storedValue.isRepresentable(as: .float), "\(float)")
        }
        #expect(UUID().storedValue.isRepresentable(as: .uuid))
        #expect(Value.text("{\"a\":[1,null]}").isRepresentable(as: .composite))
        #expect(Value.text("https://example.org/ü").isRepresentable(as: .url))
    }

    @Test func `long authors are cut in the history and in change sets`() throws {
        let author = String(repeating: "ü", count: 2000)
        store.context.transactionAuthor = author
        _ = try store.insert("Party", ["code": "b"])
        let cut = String(author.prefix(512))
        #expect(try store.coordinator.history(HistoryFetchRequest()).last?.author == cut)
        let changes = changeSet([change("Party", .insert, ["code": .attribute("c")])])
        let foreign = ChangeSet(
            id: changes.id,
            origin: changes.origin,
            sequence: 1,
            timestamp: changes.timestamp,
            authors: ["a", author],
            modelHash: changes.modelHash,
            changes: changes.changes
        )
        #expect(try store.coordinator.apply(foreign).outcome == .applied)
        let applied = try store.coordinator.history(HistoryFetchRequest()).last?.author
        // The comma and the blank take two bytes, and the letter one: half a character does not fit.
        #expect(applied == "a, " + author.prefix(510))
        _ = try store.insert("Party", ["code": "d"])
        #expect(try store.coordinator.changeSet()?.authors == [cut])
    }

    @Test func `unknown and abstract names`() throws {
        #expect(try reason(change("Ghost", .insert, [:])) == .unknownEntity)
        #expect(try reason(change("Party", .update, ["ghost": .attribute("x")], party)) == .unknownProperty)
        #expect(try reason(change("Party", .update, ["orders": .members([order])], party)) == .unknownProperty)
    }

    @Test func `values that do not fit`() throws {
        #expect(try reason(change("Party", .update, ["code": .attribute(1)], party)) == .unfittingValue)
        #expect(try reason(change("Party", .update, ["code": .reference(party)], party)) == .unfittingValue)
        #expect(try reason(change("Party", .update, ["rank": .attribute(.real(.nan))], party)) == .unfittingValue)
        #expect(try reason(change("Order", .update, ["lines": .reference(nil)], order)) == .unfittingValue)
        #expect(try reason(change("Party", .update, ["code": .attribute(.null)], party)) == .missingValue)
        #expect(try reason(change("Order", .update, ["customer": .reference(nil)], order)) == .missingValue)
        #expect(try reason(change("Party", .insert, [:])) == .missingValue)
    }

    @Test func `objects that are missing, of another entity, or repeated`() throws {
        #expect(try reason(change("Party", .update, ["note": .attribute("n")])) == .missingObject)
        #expect(try reason(change("Order", .update, ["customer": .reference(UUID())], order)) == .missingObject)
        #expect(try reason(change("Order", .update, ["customer": .reference(order)], order)) == .otherEntity)
        #expect(try reason(change("Order", .update, ["number": .attribute(2)], party)) == .otherEntity)
        #expect(try reason(change("Order", .delete, [:], party)) == .otherEntity)
        let update = change("Party", .update, ["note": .attribute("n")], party)
        #expect(try reason(update, update) == .repeatedObject)
        #expect(
            try reason(change("Party", .update, ["friends": .members([party, party])], party)) == .repeatedObject
        )
    }

    @Test func `rules of the model that the changes violate by themselves`() throws {
        // The store's own changes are exchanged first, so that they cannot be the reason.
        let own = try #require(try store.coordinator.changeSet())
        try store.coordinator.apply(own)
        let twins = [1, 2].map { _ in change("Party", .insert, ["code": .attribute("b")]) }
        #expect(throws: ExchangeError.self) { try store.coordinator.apply(changeSet(twins, sequence: 2)) }
        let seat = change("Seat", .insert, ["number": .attribute(1)])
        #expect(throws: ExchangeError.self) { try store.coordinator.apply(changeSet([seat], sequence: 2)) }
        #expect(try store.coordinator.exchangeState().position == 1)
        #expect(try store.count("Party") == 1 && store.count("Seat") == 0)
        #expect(try store.store.check() == [])
    }

    @Test func `a deletion that leaves references behind follows the delete rules`() throws {
        try store.coordinator.apply(try #require(try store.coordinator.changeSet()))
        try store.coordinator.apply(changeSet([change("Party", .delete, [:], party)], sequence: 2))
        #expect(try store.count("Party") == 1, "the rule deny")
        let next = try #require(try store.coordinator.changeSet())
        #expect(next.changes.map(\.kind) == [.insert])
        #expect(try store.store.check() == [])
    }

    @Test func `positions that are not positive`() throws {
        #expect(throws: ExchangeError.invalidChangeSet(.init(.invalidSequence))) {
            try store.coordinator.apply(changeSet([], sequence: 0))
        }
    }

    @Test(arguments: SeededGenerator.seeds(1)) func `random damage of coded change sets never traps`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        let changes = try #require(try store.coordinator.changeSet())
        let receiver = try Branch(folder.file("receiver"))
        let coded = [UInt8](try JSONEncoder().encode(changes))
        for _ in 0..<300 {
            var damaged = coded
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
            }
            guard let decoded = try? JSONDecoder().decode(ChangeSet.self, from: Data(damaged)) else { continue }
            do {
                try receiver.coordinator.apply(decoded)
            } catch is ExchangeError {
            }
        }
        #expect(try receiver.store.check() == [], "\(random)")
    }

    @Test func `damage of the record is found, and removing the history repairs it`() throws {
        _ = try store.coordinator.changeSet()
        try store.store.opened.writeTransaction { try $0.execute(#"UPDATE "_exchange" SET "state" = '{}'"#) }
        #expect(try store.store.check() == [StoreProblem(.damagedExchange)])
        #expect(throws: SealedStoreError.self) { try store.coordinator.changeSet() }
        try store.store.removeHistory()
        #expect(try store.store.check() == [])
    }

    @Test(arguments: ["_exchange", "_applied"])
    func `one table of an exchange without the other is found, and removing the history repairs it`(_ table: String)
        throws
    {
        _ = try store.coordinator.changeSet()
        try store.store.opened.writeTransaction { try $0.execute(#"DROP TABLE "\#(table)""#) }
        #expect(throws: SealedStoreError.foreignSchema(object: table)) { try store.coordinator.changeSet() }
        #expect(try store.store.check() == [StoreProblem(.damagedExchange)])
        try store.store.removeHistory()
        #expect(try store.store.check() == [])
    }
}
