import Dispatch
import Foundation
import Journal
@testable import SealedData
import TestSupport
import Testing

/// Fetches and observers of a context that has models whose destinations other containers and processes delete. The
/// store has no history, so that the context does not know which models were deleted.
@Suite struct DeletedDestinationTests {
    @Model final class Shelf {
        var name: String
        @Relationship(inverse: \Book.shelf) var books: [Book] = []

        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var number: Int
        var shelf: Shelf?
        /// Without inverse relationships: a shelf does not change with them.
        var place: Shelf?
        var copies: [Shelf] = []

        init(_ number: Int, place: Shelf? = nil) {
            title = "book \(number)"
            self.number = number
            self.place = place
        }
    }

    /// The writer that deletes a shelf.
    enum Writer: CaseIterable { case container, process }

    /// The unsaved change of a book whose place is deleted.
    enum Source: CaseIterable { case updated, inserted }

    /// The part of a query that reads the place.
    enum Question: CaseIterable { case existence, path, order, sections }

    struct Case: CustomTestStringConvertible {
        let writer: Writer
        let source: Source
        let question: Question
        let isObserved: Bool

        static let all = Writer.allCases.flatMap { writer in
            Source.allCases.flatMap { source in
                Question.allCases.flatMap { question in
                    // Only an observer has sections.
                    (question == .sections ? [true] : [false, true]).map {
                        Case(writer: writer, source: source, question: question, isObserved: $0)
                    }
                }
            }
        }

        var testDescription: String { "\(writer), \(source), \(question), \(isObserved ? "observed" : "fetched")" }

        /// The query, in the order of the titles of the books where it has no other one.
        var descriptor: FetchDescriptor<Book> {
            let sort = [SortDescriptor(\Book.title)]
            return switch question {
            case .existence: FetchDescriptor(predicate: #Predicate { $0.place != nil }, sortBy: sort)
            case .path: FetchDescriptor(predicate: #Predicate { $0.place?.name == "art" }, sortBy: sort)
            case .order: FetchDescriptor(sortBy: [SortDescriptor(\.place?.name)] + sort)
            case .sections: FetchDescriptor(sortBy: sort)
            }
        }

        /// A function that returns the titles of the results in a context, each section with its own title first.
        func results(in context: ModelContext) throws -> () throws -> [[String]] {
            let descriptor = descriptor
            if question == .sections {
                let observer = try ResultsObserver(
                    fetchDescriptor: descriptor,
                    sectionBy: \Book.place?.name,
                    modelContext: context
                )
                return { (observer.sections ?? .init()).map { [$0.title ?? "none"] + $0.map(\.title) } }
            }
            if isObserved {
                let observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
                return { [observer.results.map(\.title)] }
            }
            return {
                let titles = try context.fetch(descriptor).map(\.title)
                #expect(try context.fetchCount(descriptor) == titles.count)
                return [titles]
            }
        }
    }

    private let folder = TemporaryFolder()
    /// Follows other processes while it exists.
    private let container: ModelContainer
    private let context: ModelContext
    private let art: Shelf
    private let books: [Book]
    private let signal = DispatchSemaphore(value: 0)

    init() throws {
        container = try Self.container(folder, followsOtherProcesses: true)
        context = ModelContext(container)
        context.autosaveEnabled = false
        art = Shelf(name: "art")
        let law = Shelf(name: "law")
        books = [Book(1, place: art), Book(2, place: law), Book(3)]
        books[0].shelf = art
        for book in books { context.insert(book) }
        try context.save()
    }

    private static func container(
        _ folder: TemporaryFolder,
        followsOtherProcesses: Bool = false
    ) throws -> ModelContainer {
        var configuration = ModelConfiguration(
            url: folder.file("books.store"),
            key: try .raw(Array(repeating: 7, count: 32))
        )
        configuration.followsOtherProcesses = followsOtherProcesses
        return try ModelContainer(for: Shelf.self, Book.self, configurations: configuration)
    }

    // MARK: Steps

    /// Makes the unsaved change in a context.
    private func change(_ source: Source, in context: ModelContext) throws {
        let shelves = try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == "art" }))
        switch source {
        case .updated:
            let found = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "book 1" }))
            for book in found { book.number = 100 }
        case .inserted: context.insert(Book(4, place: shelves.first))
        }
        context.processPendingChanges()
    }

    /// Deletes the shelf "art", and waits until the context has received the deletion.
    private func deleteArt(by writer: Writer) throws {
        switch writer {
        case .container:
            let other = ModelContext(try Self.container(folder))
            for shelf in try other.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == "art" })) {
                other.delete(shelf)
            }
            try other.save()
        case .process:
            context.graph.onRemoteChange = { [signal] in signal.signal() }
            let process = try WriterProcess(folder.file("books.store"), "commands")
            process.waitForLines(1)
            process.run("discard 0")
            process.run("rename 3 9")
            while true {
                context.processPendingChanges()
                if books[2].title == "book 9" { break }
                try #require(signal.wait(timeout: .now() + maximumWait) == .success, "the commit has not arrived")
            }
        }
        context.processPendingChanges()
    }

    // MARK: Tests

    // context                          other container or process
    // observes books by their places
    // changes or inserts a book
    //                                  deletes the place of the book and saves
    // receives the unknown changes
    @Test(arguments: Case.all)
    func `results are those of a new context with the same unsaved change`(_ test: Case) throws {
        let observed = test.isObserved ? try test.results(in: context) : nil
        try change(test.source, in: context)
        try deleteArt(by: test.writer)
        let results = try (observed ?? test.results(in: context))()
        let fresh = ModelContext(try Self.container(folder))
        try change(test.source, in: fresh)
        #expect(try results == test.results(in: fresh)())
        // A second read finds the deletion, which the first one may have recorded only.
        context.processPendingChanges()
        #expect(try (observed ?? test.results(in: context))() == results)
        #expect(art.isDeleted)
    }

    @Test(arguments: Writer.allCases)
    func `relationships do not lead to a deleted model`(writer: Writer) throws {
        try change(.inserted, in: context)
        books[0].number = 100
        books[1].copies = [art]
        let withCopies = FetchDescriptor<Book>(predicate: #Predicate { !$0.copies.isEmpty })
        #expect(try context.fetchCount(withCopies) == 1)
        try deleteArt(by: writer)
        #expect(books[0].shelf == nil)
        #expect(books[0].place == nil)
        #expect(books[1].copies == [])
        #expect(try context.fetchCount(withCopies) == 0)
    }

    @Test func `a model of which only its identifier is known is not shown after its deletion`() throws {
        let reader = ModelContext(container)
        reader.autosaveEnabled = false
        let shelf = try #require(reader.model(for: art.persistentModelID) as? Shelf)
        let book = Book(4, place: shelf)
        reader.insert(book)
        try deleteArt(by: .container)
        reader.processPendingChanges()
        #expect(try reader.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.place != nil })) == 1)
        #expect(book.place == nil)
        #expect(shelf.isDeleted)
    }
}
