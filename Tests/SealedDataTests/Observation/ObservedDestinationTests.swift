import Foundation
import SealedData
import TestSupport
import Testing

/// Notifications of observers of relationships whose destinations are deleted or return, without a change of the
/// objects that refer to them.
@Suite struct ObservedDestinationTests {
    @Model final class Node {
        var title: String
        var next: Node?
        @Relationship(inverse: \Bag.owner) var bag: Bag?

        init(_ title: String) { self.title = title }
    }

    @Model final class Bag {
        var name = ""
        var owner: Node?
        // Without an inverse relationship.
        var nodes: [Node] = []

        init() {}
    }

    /// A relationship that reads as another value while its destination is deleted.
    enum Reading: CaseIterable {
        case existence, path, members
    }

    private let container: ModelContainer
    private let context: ModelContext
    private let source = Node("source")
    private let bag = Bag()

    init() throws {
        container = try ModelContainer(
            for: Node.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        context = ModelContext(container)
        context.autosaveEnabled = false
        context.undoManager = UndoManager()
        context.insert(source)
        context.insert(bag)
        let destination = Node("destination")
        context.insert(destination)
        source.next = destination
        bag.nodes = [destination]
        try context.save()
    }

    private func value(_ reading: Reading) -> String {
        switch reading {
        case .existence: "\(source.next == nil)"
        case .path: source.next?.title ?? "none"
        case .members: bag.nodes.map(\.title).joined()
        }
    }

    /// Fetched for each change: observers must not need the destination to stay in memory.
    private func destination(in context: ModelContext) throws -> Node {
        let named = FetchDescriptor<Node>(predicate: #Predicate { $0.title == "destination" })
        return try #require(try context.fetch(named).first)
    }

    /// Expects that a change of what a relationship reads as notifies its observers, and returns the new value.
    @discardableResult
    private func expectNotification(
        _ reading: Reading,
        _ comment: Comment,
        _ change: () throws -> Void
    ) throws -> String {
        let old = value(reading)
        let count = try notifications(of: { value(reading) }, change)
        #expect(value(reading) != old, comment)
        #expect(count == 1, comment)
        return value(reading)
    }

    @Test(arguments: Reading.allCases)
    func `observers are notified of deletions, rollbacks, undos and redos`(reading: Reading) throws {
        try expectNotification(reading, "deletion") { context.delete(try destination(in: context)) }
        try expectNotification(reading, "rollback") { context.rollback() }
        try expectNotification(reading, "second deletion") {
            context.delete(try destination(in: context))
            context.processPendingChanges()
        }
        try expectNotification(reading, "undo") { context.undoManager?.undo() }
        try expectNotification(reading, "redo") { context.undoManager?.redo() }
        try context.save()
        try expectNotification(reading, "undo of the saved deletion") { context.undoManager?.undo() }
    }

    @Test(arguments: Reading.allCases)
    func `observers are notified of a deletion that another context saves`(reading: Reading) throws {
        try expectNotification(reading, "deletion by another context") {
            let other = ModelContext(container)
            other.delete(try destination(in: other))
            try other.save()
            context.processPendingChanges()
        }
    }

    @Test func `observers of a new object are notified in the context that it joins`() throws {
        let node = Node("new")
        let destination = Node("new destination")
        #expect(notifications(of: { node.next }) { node.next = destination } == 1)
        #expect(
            notifications(of: { node.next }) {
                context.insert(node)
                context.delete(destination)
            } == 1
        )
        #expect(node.next == nil)
    }
}
