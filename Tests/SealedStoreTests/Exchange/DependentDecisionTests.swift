import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A decision of a merge makes others necessary: all of them are found in one composition of the save.
@Suite("Dependent decisions of a merge") struct DependentDecisionTests {
    private let folder = TemporaryFolder()

    /// The number of statements that the application of a change set runs.
    private func statements(_ store: Branch, _ changes: ChangeSet) throws -> Int {
        let before = try store.store.opened.database.statistics
        try store.coordinator.apply(changes, mergePolicy: .mergeByPropertyObjectTrump)
        return try (store.store.opened.database.statistics - before).statementsRun
    }

    // first                         | second
    // has the labels 0 …< n         | the same
    // gives each tag the next label | has a new tag, with the last one of these or another one
    @Test func `a chain of values that cannot move is found at once`() throws {
        let count = 60
        var runs: [Int] = []
        for label in ["other", "\(count)"] {
            let first = try Branch(folder.file("first-\(label).store"))
            let second = try Branch(folder.file("second-\(label).store"))
            let log = ChangeLog()
            let tags = try (0..<count).map { try first.insert("Tag", ["label": .text("\($0)")]) }
            try first.exchange(log)
            try second.receive(log)
            for offset in [1000, 1] {
                for (number, tag) in tags.enumerated() { tag["label"] = .text("\(number + offset)") }
                try first.context.save()
            }
            try second.insert("Tag", ["label": .text(label)])
            runs.append(try statements(second, #require(try first.coordinator.changeSet())))
            let labels = try second.context.fetch(FetchRequest(second.entity("Tag")), as: ManagedObject.self).map {
                $0["label"]
            }
            #expect(Set(labels).count == count + 1)
            #expect(try second.store.check() == [])
        }
        #expect(runs[1] < 2 * count, "one search for each tag, none for each decision: \(runs)")
    }

    // first                                   | second
    // deletes the root, changes other objects | has a chain of new descendants of the root
    @Test func `a chain of cascades is found at once`() throws {
        let node = EntityDescription(
            "Node",
            attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("parent", to: "Node", .one, inverse: "children"),
                RelationshipDescription("children", to: "Node", .many, inverse: "parent", deleteRule: .cascade),
            ]
        )
        let first = try Branch(folder.file("first.store"), declarations: [node])
        let second = try Branch(folder.file("second.store"), declarations: [node])
        let log = ChangeLog()
        let root = try first.insert("Node", ["name": "root"])
        let others = try (0..<100).map { try first.insert("Node", ["name": .text("\($0)")]) }
        try first.exchange(log)
        try second.receive(log)
        for other in others { other["name"] = "changed" }
        try first.delete(root)
        var parent = try #require(try second.object(first.identifier(root)))
        for number in 0..<40 { parent = try second.insert("Node", ["name": .text("n\(number)")], ["parent": parent]) }
        let changes = try #require(try first.coordinator.changeSet())
        #expect(try statements(second, changes) < 20 * 140)
        try first.exchange(log)
        try second.exchange(log)
        try first.exchange(log)
        #expect(try second.count("Node") == 100)
        #expect(try first.content() == second.content())
        #expect(try second.store.check() == [])
    }
}
