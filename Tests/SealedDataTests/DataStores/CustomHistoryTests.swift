import Foundation
@testable import SealedData
import Testing

@Suite("Histories of custom stores") struct CustomHistoryTests {
    typealias Descriptor = HistoryDescriptor<LoggedTransaction>
    typealias Note = ModelHistoryTests.Plain.Note
    typealias Tag = ModelHistoryTests.Plain.Tag

    private let context: ModelContext

    init() throws {
        let container = try ModelContainer(
            for: Note.self,
            Tag.self,
            configurations: LoggedStoreConfiguration("one", Schema([Note.self])),
            LoggedStoreConfiguration("two", Schema([Tag.self]))
        )
        context = ModelContext(container)
    }

    private func save(_ models: any PersistentModel...) throws {
        for model in models {
            context.insert(model)
            try context.save()
        }
    }

    private func names(_ descriptor: Descriptor = Descriptor()) throws -> [String] {
        try context.fetchHistory(descriptor).map { "\($0.storeIdentifier) \($0.id)" }
    }

    @Test func `the notification of a save has the token of a custom store`() throws {
        let received = Received()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave,
            object: context,
            queue: nil
        ) { notification in
            let tokens = notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
            received.tokens = tokens as? [String: any HistoryToken]
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try save(Note(1), Note(2))
        #expect(
            received.tokens?.mapValues { $0 as? LoggedToken } == [
                "one": LoggedToken(tokenValue: 2, storeIdentifier: "one")
            ]
        )
        try save(Tag(1))
        #expect(received.tokens?.keys.sorted() == ["two"])
    }

    /// The tokens of a notification.
    ///
    /// `@unchecked Sendable`: the thread of the test posts the notification, and is the only one that uses the property.
    private final class Received: @unchecked Sendable {
        var tokens: [String: any HistoryToken]?
    }

    @Test func `the histories of two stores are one, in the order and to the limit of the descriptor`() throws {
        try save(Note(1), Tag(1), Tag(2), Note(2))
        #expect(try names() == ["one 1", "two 1", "two 2", "one 2"])
        var newest = Descriptor(sortBy: [SortDescriptor(\.timestamp, order: .reverse)])
        newest.fetchLimit = 2
        #expect(try names(newest) == ["one 2", "two 2"])
        try context.deleteHistory(newest)
        #expect(try names() == ["one 1", "two 1"])
        newest.fetchLimit = 1
        try context.deleteHistory(newest)
        #expect(try names() == ["one 1"])
        try context.deleteHistory(Descriptor())
        #expect(try names() == [])
    }

    @Test func `an observer counts the transactions of custom stores`() throws {
        try save(Note(1))
        let token = LoggedToken(tokenValue: 1, storeIdentifier: "one")
        func events(
            _ tokens: [String: any HistoryToken],
            _ models: [any PersistentModel.Type],
            _ authors: Set<String> = []
        )
            throws -> Int
        {
            try HistoryObserver(
                historyTokens: tokens,
                observedModels: models,
                authors: authors,
                modelContainer: context.container,
                isolation: nil
            ).eventCounter
        }
        #expect(try events(["one": token], [Note.self]) == 0)
        context.author = "app"
        try save(Note(2))
        #expect(try events(["one": token], [Note.self]) == 1)
        #expect(try events(["one": token], [Tag.self]) == 0)
        #expect(try events(["one": token], [], ["app"]) == 1)
        #expect(try events(["one": token], [], ["widget"]) == 0)
    }

    @Test func `an observer notices the saves to custom stores`() async throws {
        let observer = try HistoryObserver(
            observedModels: [Tag.self],
            modelContainer: context.container,
            isolation: nil
        )
        try save(Note(1), Tag(1))
        while observer.eventCounter == 0 { await Task.yield() }
        #expect(observer.eventCounter == 1)
    }
}
