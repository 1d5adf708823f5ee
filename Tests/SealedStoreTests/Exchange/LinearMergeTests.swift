import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Decisions that depend on each other in long chains cost as much as their number.
@Suite("Long chains of decisions") struct LinearMergeTests {
    private let folder = TemporaryFolder()

    private static let nodes = EntityDescription(
        "Node",
        attributes: [AttributeDescription("name", .string)],
        relationships: [
            RelationshipDescription("parent", to: "Node", .one, inverse: "children", isOptional: false),
            RelationshipDescription("children", to: "Node", .many, inverse: "parent", deleteRule: .deny),
        ]
    )

    private static let list = EntityDescription(
        "Node",
        attributes: [AttributeDescription("name", .string)],
        relationships: [
            RelationshipDescription("next", to: "Node", .one, inverse: "previous"),
            RelationshipDescription("previous", to: "Node", .one, inverse: "next"),
        ]
    )

    /// `EXCHANGE_CHAIN` is the length of the shorter chain; the tests print the times then.
    private static let length = ProcessInfo.processInfo.environment["EXCHANGE_CHAIN"].flatMap { Int($0) }
    private static let counts = [length ?? 100, 2 * (length ?? 100)]

    /// The number of statements that the application of a change set runs.
    private func statements(_ store: Branch, _ changes: ChangeSet, _ policy: MergePolicy) throws -> Int {
        let before = try store.store.opened.database.statistics
        let time = try ContinuousClock().measure { try store.coordinator.apply(changes, mergePolicy: policy) }
        if Self.length != nil { print("applied \(changes.changes.count) changes in \(time)") }
        return try (store.store.opened.database.statistics - before).statementsRun
    }

    private func pair(_ name: String, _ entity: EntityDescription) throws -> (Branch, Branch) {
        (
            try Branch(folder.file("\(name)-first.store"), declarations: [entity]),
            try Branch(folder.file("\(name)-second.store"), declarations: [entity])
        )
    }

    private func requireLinear(_ runs: [Int]) {
        #expect(runs[1] < 3 * runs[0], "statements for a chain, and one of twice the length: \(runs)")
    }

    // first                                          | second
    // has a root, which is its own parent            | the same
    // inserts a chain of descendants, the last first | deletes the root
    @Test func `a chain of new objects that need each other is dropped at once`() throws {
        var runs: [Int] = []
        for count in Self.counts {
            let (first, second) = try pair("\(count)", Self.nodes)
            let log = ChangeLog()
            let root = ManagedObject(entity: first.entity("Node"), insertInto: first.context)
            root["name"] = "root"
            root.setDestination(root, forRelationship: "parent")
            try first.context.save()
            try first.exchange(log)
            try second.receive(log)
            var child: ManagedObject?
            for number in 0..<count {
                let node = ManagedObject(entity: first.entity("Node"), insertInto: first.context)
                node["name"] = .text("\(number)")
                child?.setDestination(node, forRelationship: "parent")
                child = node
            }
            child?.setDestination(root, forRelationship: "parent")
            try first.context.save()
            let copy = try #require(try second.only("Node"))
            let other = ManagedObject(entity: second.entity("Node"), insertInto: second.context)
            other["name"] = "other"
            other.setDestination(other, forRelationship: "parent")
            copy.setDestination(other, forRelationship: "parent")
            try second.context.save()
            try second.delete(copy)
            let changes = try #require(try first.coordinator.changeSet())
            runs.append(try statements(second, changes, .mergeByPropertyStoreTrump))
            try first.exchange(log)
            try second.exchange(log)
            try first.exchange(log)
            #expect(try first.content() == second.content())
            #expect(try first.store.check() + second.store.check() == [])
        }
        requireLinear(runs)
    }

    // first                                    | second
    // deletes a chain of required descendants  | inserts a descendant of the last one
    @Test func `a chain of objects that need each other stays at once`() throws {
        var runs: [Int] = []
        for count in Self.counts {
            let (first, second) = try pair("stay-\(count)", Self.nodes)
            let log = ChangeLog()
            var chain: [ManagedObject] = []
            for number in 0..<count {
                let node = ManagedObject(entity: first.entity("Node"), insertInto: first.context)
                node["name"] = .text("\(number)")
                node.setDestination(chain.last ?? node, forRelationship: "parent")
                chain.append(node)
            }
            try first.context.save()
            try first.exchange(log)
            try second.receive(log)
            let last = try #require(try second.object(first.identifier(chain[count - 1])))
            for node in chain.reversed() { first.context.delete(node) }
            try first.context.save()
            try second.insert("Node", ["name": "new"], ["parent": last])
            let changes = try #require(try first.coordinator.changeSet())
            runs.append(try statements(second, changes, .mergeByPropertyStoreTrump))
            try first.exchange(log)
            try second.exchange(log)
            try first.exchange(log)
            #expect(try first.count("Node") == count + 1)
            #expect(try first.content() == second.content())
            #expect(try first.store.check() + second.store.check() == [])
        }
        requireLinear(runs)
    }

    // first                                | second
    // has a list of nodes                  | the same
    // reverses each pair, so that all move | inserts a node behind the first one
    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func `a list of partners is moved at once`(policy: MergePolicy) throws {
        var runs: [Int] = []
        for count in Self.counts {
            let (first, second) = try pair("\(policy)-\(count)", Self.list)
            let log = ChangeLog()
            var nodes: [ManagedObject] = []
            for number in 0..<count {
                let node = ManagedObject(entity: first.entity("Node"), insertInto: first.context)
                node["name"] = .text("\(number)")
                nodes.last?.setDestination(node, forRelationship: "next")
                nodes.append(node)
            }
            try first.context.save()
            try first.exchange(log)
            try second.receive(log)
            for node in nodes { node.setDestination(nil, forRelationship: "next") }
            for (node, next) in zip(nodes, nodes.dropFirst(2)) { node.setDestination(next, forRelationship: "next") }
            try first.context.save()
            let copy = try #require(try second.object(first.identifier(nodes[0])))
            let inserted = try second.insert("Node", ["name": "new"])
            inserted.setDestination(copy.partner("next"), forRelationship: "next")
            copy.setDestination(inserted, forRelationship: "next")
            try second.context.save()
            let changes = try #require(try first.coordinator.changeSet())
            runs.append(try statements(second, changes, policy))
            try first.exchange(log)
            try second.exchange(log)
            try first.exchange(log)
            #expect(try first.content() == second.content())
            #expect(try first.store.check() + second.store.check() == [])
        }
        requireLinear(runs)
    }
}
