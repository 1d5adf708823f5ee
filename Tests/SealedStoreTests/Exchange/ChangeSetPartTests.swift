import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Change sets of a bounded size: after each of them, the common order is consistent, and another store may go on.
@Suite("Change sets that are parts of the changes") struct ChangeSetPartTests {
    private let folder = TemporaryFolder()
    private let log = ChangeLog()

    private func branch(_ name: String, _ declarations: [EntityDescription] = Branch.declarations()) throws -> Branch {
        try Branch(folder.file("\(name).store"), declarations: declarations)
    }

    private func all(_ entity: String, _ branch: Branch) throws -> [ManagedObject] {
        try branch.context.fetch(FetchRequest(branch.entity(entity)), as: ManagedObject.self)
    }

    private func size(_ changes: ChangeSet) throws -> Int { try JSONEncoder().encode(changes).count }

    /// Sends all changes of a store in parts, and applies each to the others.
    ///
    /// - Returns: the sizes of the parts.
    private func send(_ store: Branch, to others: [Branch], limit: Int) throws -> [Int] {
        var sizes: [Int] = []
        while let changes = try store.coordinator.changeSet(sizeLimit: limit) {
            #expect(log.append(changes))
            sizes.append(try size(changes))
            #expect(try store.coordinator.apply(changes).outcome == .acknowledged)
            for other in others {
                #expect(try other.receive(log) == [])
                let rest = try other.coordinator.changeSet()?.changes.map { "\($0.entity) \($0.values.keys.sorted())" }
                #expect(rest == nil, "part \(sizes.count)")
                #expect(try other.store.check() == [], "part \(sizes.count)")
            }
            try #require(sizes.count < 1000)
        }
        for other in others { #expect(try other.content() == store.content()) }
        return sizes
    }

    /// Inserts orders with lines and items with tags, in an order of insertion in which references lead forward, too.
    private func fill(_ store: Branch, _ count: Int) throws {
        var random = SeededGenerator(seed: 7)
        func insert(_ entity: String, _ values: [String: Value]) -> ManagedObject {
            let object = ManagedObject(entity: store.entity(entity), insertInto: store.context)
            for (name, value) in values { object[name] = value }
            return object
        }
        var (parties, items, lines): ([ManagedObject], [ManagedObject], [ManagedObject]) = ([], [], [])
        var (orders, badges): ([ManagedObject], [ManagedObject]) = ([], [])
        for number in 0..<count {
            lines.append(insert("Line", ["amount": .integer(Int64(number))]))
            items.append(insert("Item", ["name": .text("item \(number)")]))
            orders.append(insert("Order", ["number": .integer(Int64(number))]))
            parties.append(insert("Party", ["code": .text("\(number)")]))
            badges.append(insert("Badge", ["number": .integer(Int64(number))]))
        }
        let tags = (0..<5).map { insert("Tag", ["label": .text("\($0)")]) }
        let categories = (0..<3).map { insert("Category", ["title": .text("\($0)")]) }
        for number in 0..<count {
            orders[number].setDestination(random.pick(parties), forRelationship: "customer")
            lines[number].setDestination(random.pick(orders), forRelationship: "order")
            lines[number].setDestination(random.pick(items), forRelationship: "item")
            items[number].setDestination(random.pick(categories), forRelationship: "category")
            for tag in tags where random.chance(40) { items[number].add(tag, to: "tags") }
            parties[number].setDestination(random.pick(badges), forRelationship: "badge")
            parties[number].add(random.pick(parties)!, to: "friends")
        }
        try store.context.save()
    }

    @Test(arguments: [1, 2_000, 20_000]) func `the first exchange of a store comes in parts`(limit: Int) throws {
        let (first, second) = (try branch("first"), try branch("second"))
        try fill(first, limit == 1 ? 10 : 60)
        let sizes = try send(first, to: [second], limit: limit)
        #expect(sizes.count > (limit == 20_000 ? 2 : 20))
        if limit > 1 { #expect(sizes.allSatisfy { $0 < 3 * limit + 10_000 }, "\(sizes)") }
    }

    @Test func `a new store may begin behind any part, and others may change the same objects between parts`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        try fill(first, 30)
        var number = 0
        while let changes = try first.coordinator.changeSet(sizeLimit: 3_000) {
            #expect(log.append(changes))
            try first.receive(log)
            try second.receive(log)
            number += 1
            if let party = try all("Party", second).last {
                if number % 3 == 0 { try second.set(party, "note", .text("\(number)")) }
                if number % 7 == 0 {
                    second.context.delete(party)
                    do { try second.context.save() } catch is ObjectGraphError { second.context.rollback() }
                }
            }
            try second.exchange(log)
            try first.receive(log)
            if number % 5 == 0 {
                let late = try branch("late \(number)")
                try late.exchange(log)
                #expect(try late.content() == second.content())
            }
            try #require(number < 200)
        }
        for store in [first, second, first, second] { try store.exchange(log) }
        #expect(try first.content() == second.content())
        #expect(try first.store.check() + second.store.check() == [])
    }

    @Test func `parts are continued after the store was closed and after later changes`() throws {
        let second = try branch("second")
        do { try fill(try branch("first"), 30) }
        var number = 0
        while true {
            let first = try branch("first")
            guard let changes = try first.coordinator.changeSet(sizeLimit: 3_000) else { break }
            // Changes between a change set and its acknowledgement.
            if number < 6, let order = try all("Order", first).last {
                if number.isMultiple(of: 2) { try first.delete(order) } else { try first.set(order, "number", 1000) }
            }
            if number == 3 { try first.insert("Tag", ["label": "later"]) }
            #expect(log.append(changes))
            number += 1
            try second.receive(log)
            #expect(try second.coordinator.changeSet() == nil)
            let again = try branch("first")
            #expect(try again.coordinator.apply(changes).outcome == .acknowledged)
            try #require(number < 200)
        }
        #expect(try branch("first").content() == second.content())
        #expect(try second.store.check() == [])
    }

    @Test func `changes of exchanged objects come in parts, too`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        try fill(first, 40)
        _ = try send(first, to: [second], limit: 1 << 20)
        for party in try all("Party", first) { party["note"] = .text(String(repeating: "n", count: 500)) }
        let tag = try #require(try all("Tag", first).last)
        for item in try all("Item", first) { item.add(tag, to: "tags") }
        try first.delete(#require(try all("Line", first).first))
        let sizes = try send(first, to: [second], limit: 4_000)
        #expect(sizes.count > 4)
    }

    @Test func `large values are in change sets of their own, and rings of required references in one`() throws {
        let node = EntityDescription(
            "Node",
            attributes: [.init("data", .data, isOptional: true, allowsExternalStorage: true)],
            relationships: [
                .init("needed", to: "Node", .one, isOptional: false), .init("other", to: "Node", .one),
            ]
        )
        let (first, second) = (try branch("first", [node]), try branch("second", [node]))
        let nodes = (0..<20).map { _ in ManagedObject(entity: first.entity("Node"), insertInto: first.context) }
        for (number, node) in nodes.enumerated() {
            node["data"] = .blob(Data(repeating: UInt8(number), count: 30_000))
            // Two rings of three, and others that lead to themselves.
            let next = number < 6 ? number / 3 * 3 + (number + 1) % 3 : number
            node.setDestination(nodes[next], forRelationship: "needed")
            node.setDestination(nodes[6 + (number + 7) % 14], forRelationship: "other")
        }
        try first.context.save()
        let sizes = try send(first, to: [second], limit: 50_000)
        #expect(sizes.allSatisfy { $0 < 200_000 }, "\(sizes)")
        #expect(sizes.count > 5)
    }
}
