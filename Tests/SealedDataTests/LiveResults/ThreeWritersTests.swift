import Foundation
import Journal
@testable import SealedData
import TestSupport
import Testing

/// Change sets of results, with sections and moves, while the main context, an actor and another process write.
///
///     test (main actor)        actor               journal-writer
///     sends a command          –                   changes the store, commits
///     changes, may save        changes, saves      changes the store, commits
///     waits for the results    –                   –
@MainActor @Suite struct ThreeWritersTests {
    @Model final class Shelf {
        var name: String
        var books: [Book] = []

        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var number: Int
        @Relationship(inverse: \Shelf.books) var shelf: Shelf?

        init(_ number: Int, shelf: Shelf?) {
            title = "book \(number)"
            self.number = number
            self.shelf = shelf
        }
    }

    @ModelActor
    actor Writer {
        func change(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            try ThreeWritersTests.change(modelContext, &random)
            try ThreeWritersTests.save(modelContext)
        }
    }

    private let folder = TemporaryFolder()
    private var url: URL { folder.file("books.store") }

    @Test(arguments: SeededGenerator.seeds(3))
    func `change sets and their compositions lead to the results of the store`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
        let container = try ModelContainer(
            for: Shelf.self,
            Book.self,
            configurations: ModelConfiguration(url: url, key: key)
        )
        let context = container.mainContext
        context.autosaveEnabled = false
        for name in ["art", "law"] { context.insert(Shelf(name: name)) }
        for number in 1...5 { context.insert(Book(number, shelf: nil)) }
        try context.save()
        let actor = Writer(modelContainer: container)
        let process = try WriterProcess(url, "commands")
        process.waitForLines(1)

        var limited = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)])
        limited.fetchLimit = 4
        let observers = try [
            ResultsObserver(sortBy: [SortDescriptor(\.number)], sectionBy: \Book.title, modelContext: context),
            ResultsObserver(fetchDescriptor: limited, sectionBy: \Book.title, modelContext: context),
        ]
        var lists: [[PersistentIdentifier]] = [[], []]
        var lagging: [[PersistentIdentifier]] = [[], []]
        let subscriptions = observers.indices.map { index in
            observers[index].onChange { $0.apply(to: &lists[index]) }
        }
        let mailboxes = observers.map { $0.changes().mailbox }
        for step in 0..<25 {
            let comment: Comment = "\(random), step \(step)"
            process.send("random \(Int.random(in: 0..<1_000_000, using: &random))")
            let actorSeed = random.next()
            async let change: Void = actor.change(seed: actorSeed)
            try Self.change(context, &random)
            try Self.save(context)
            try await change
            process.waitForLines(1)
            try await wait(until: { try Self.shown(observers[0]) == stored(container, nil) }, comment)
            try await wait(until: { try Self.shown(observers[1]) == stored(container, 4) }, comment)
            for (index, observer) in observers.enumerated() {
                #expect(observer.fetchError == nil, comment)
                #expect(lists[index] == Self.identifiers(observer), comment)
                let sections = observer.sections.map { $0.map { Array($0.map(\.persistentModelID)) } } ?? []
                #expect(sections.flatMap { $0 } == lists[index], comment)
                for section in observer.sections ?? .init() {
                    #expect(section.allSatisfy { $0.title == section.title }, comment)
                }
                guard random.chance(30) else { continue }
                mailboxes[index].take()?.apply(to: &lagging[index])
                #expect(lagging[index] == lists[index], comment)
            }
        }
        #expect(process.isRunning)
        #expect(try context.storeProblems() == [], "\(random)")
        withExtendedLifetime(subscriptions) {}
    }

    /// Makes a few random changes.
    nonisolated private static func change(_ context: ModelContext, _ random: inout SeededGenerator) throws {
        let shelves = try context.fetch(FetchDescriptor<Shelf>())
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let number = Int.random(in: 0..<20, using: &random)
            let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
            guard let book = random.pick(books), !random.chance(30) else {
                context.insert(Book(number, shelf: random.pick(shelves)))
                continue
            }
            switch number % 4 {
            case 0: context.delete(book)
            case 1: book.title = "book \(number)"
            case 2: book.shelf = random.pick(shelves)
            default: book.number = number
            }
        }
    }

    /// Saves, or drops the changes if another writer has changed their models.
    nonisolated private static func save(_ context: ModelContext) throws {
        do { try context.save() } catch { context.rollback() }
    }

    private static func identifiers(_ observer: ResultsObserver<Book, String>) -> [PersistentIdentifier] {
        observer.results.map(\.persistentModelID)
    }

    /// A result with the title of its section. A book that was not read again yet, or is read before its change has
    /// arrived at the observer, can have another title.
    private struct Shown: Equatable {
        let title: String
        let identifier: PersistentIdentifier
    }

    private static func shown(_ observer: ResultsObserver<Book, String>) -> [Shown] {
        (observer.sections ?? .init()).flatMap { section in
            section.map { Shown(title: section.title, identifier: $0.persistentModelID) }
        }
    }

    /// The results that the store returns.
    private func stored(_ container: ModelContainer, _ limit: Int?) throws -> [Shown] {
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title), SortDescriptor(\.number)])
        descriptor.fetchLimit = limit
        return try ModelContext(container).fetch(descriptor).map {
            Shown(title: $0.title, identifier: $0.persistentModelID)
        }
    }

    /// Lets the main actor receive the changes of others until a condition holds.
    private func wait(until condition: () throws -> Bool, _ comment: Comment) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while try !condition() {
            try #require(ContinuousClock.now < deadline, comment)
            await Task.yield()
        }
    }
}
