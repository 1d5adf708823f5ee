import Foundation
import SealedData
import Testing

/// Results of a context in which unsaved changes, deletions among them, end and begin again.
@Suite struct EndedChangesTests {
    @Model final class Book {
        var title: String
        var pages: Int
        var author: Author?
        var owner: Author?
        // Without an inverse relationship.
        var friend: Book?

        init(_ title: String, pages: Int = 1) {
            self.title = title
            self.pages = pages
        }
    }

    @Model final class Author {
        var name: String
        @Relationship(inverse: \Book.author) var books: [Book] = []
        @Relationship(deleteRule: .cascade, inverse: \Book.owner) var owned: [Book] = []

        init(_ name: String) { self.name = name }
    }

    private let main: ModelContext
    private let second: ModelContext
    private let b = Book("b")
    private let c = Book("c", pages: 3)
    private let a = Author("a")

    init() throws {
        let container = try ModelContainer(
            for: Book.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        (main, second) = (ModelContext(container), ModelContext(container))
        (main.autosaveEnabled, second.autosaveEnabled) = (false, false)
        main.insert(b)
        main.insert(c)
        main.insert(a)
        b.friend = c
        b.author = a
        b.owner = a
        try main.save()
        main.undoManager = UndoManager()
    }

    private func observer(_ predicate: Predicate<Book>?) throws -> ResultsObserver<Book, Never> {
        try ResultsObserver(
            fetchDescriptor: FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.pages)]),
            modelContext: main
        )
    }

    private func expectCurrent(
        _ observer: ResultsObserver<Book, Never>,
        _ predicate: Predicate<Book>?,
        _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        main.processPendingChanges()
        let shown = observer.results.map { "\($0.title) \($0.pages)" }
        let fetched = try main.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.pages)]))
        #expect(shown == fetched.map { "\($0.title) \($0.pages)" }, comment, sourceLocation: sourceLocation)
    }

    private func book(_ title: String, in context: ModelContext) throws -> Book {
        try #require(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })).first)
    }

    @Test func `a destination returns after an insertion of another object`() throws {
        let predicate: Predicate<Book> = #Predicate { $0.friend != nil }
        let observer = try observer(predicate)
        main.delete(c)
        try expectCurrent(observer, predicate, "deleted")
        main.insert(Book("new"))
        try expectCurrent(observer, predicate, "inserted")
        main.rollback()
        try expectCurrent(observer, predicate, "rolled back")
        main.delete(c)
        try main.save()
        main.insert(Book("another"))
        try expectCurrent(observer, predicate, "deletion saved")
        main.undoManager?.undo()
        main.undoManager?.undo()
        try expectCurrent(observer, predicate, "undone")
        #expect(!observer.results.isEmpty)
    }

    @Test func `a new object counts as inserted again after the undo of its deletion`() throws {
        let predicate: Predicate<Book> = #Predicate { $0.friend != nil }
        let observer = try observer(predicate)
        let new = Book("new")
        main.insert(new)
        c.friend = new
        try expectCurrent(observer, predicate, "inserted")
        main.delete(new)
        try expectCurrent(observer, predicate, "deleted")
        main.undoManager?.undo()
        try expectCurrent(observer, predicate, "undone")
        #expect(observer.results.count == 2)
    }

    /// The delete rule of the inverse of a reference.
    enum Rule: CaseIterable { case nullify, cascade }

    /// Another context adds a book to an author whose books were read before.
    @Test(arguments: Rule.allCases)
    func `deletions and redos clear references that the inverse does not contain`(rule: Rule) throws {
        let predicate: Predicate<Book> =
            rule == .nullify ? #Predicate { $0.author == nil } : #Predicate { $0.owner == nil }
        let observer = try observer(predicate)
        _ = (a.books.count, a.owned.count)
        main.delete(a)
        try expectCurrent(observer, predicate, "deleted")
        main.undoManager?.undo()
        try expectCurrent(observer, predicate, "undone")
        let new = Book("new", pages: 2)
        second.insert(new)
        let author = try second.fetch(FetchDescriptor<Author>()).first
        if rule == .nullify { new.author = author } else { new.owner = author }
        try second.save()
        try expectCurrent(observer, predicate, "inserted elsewhere")
        main.undoManager?.redo()
        try expectCurrent(observer, predicate, "redone")
        main.rollback()
        try expectCurrent(observer, predicate, "rolled back")
    }

    /// The ways in which unsaved changes end, and new ones begin before the next delivery.
    enum End: CaseIterable {
        case rollback, rollbackAndChange, undo, undoAndRedo, undoAndChange, saveAndChange, rollbackAndDelete
    }

    // main                             second
    // changes the title of a book
    //                                  changes its pages, saves
    // ends the change, changes again
    @Test(arguments: End.allCases)
    func `a later row of an object whose changes end is reported`(end: End) throws {
        let few: Predicate<Book> = #Predicate { $0.pages < 3 }
        let (all, filtered) = (try observer(nil), try observer(few))
        b.title = "bb"
        main.processPendingChanges()
        try book("b", in: second).pages = 9
        try second.save()
        main.processPendingChanges()
        switch end {
        case .rollback: main.rollback()
        case .rollbackAndChange:
            main.rollback()
            b.title = "y"
        case .undo: main.undoManager?.undo()
        case .undoAndRedo:
            main.undoManager?.undo()
            main.undoManager?.redo()
        case .undoAndChange:
            main.undoManager?.undo()
            b.title = "z"
        case .saveAndChange:
            try main.save()
            b.title = "w"
        case .rollbackAndDelete:
            main.rollback()
            main.delete(b)
        }
        try expectCurrent(all, nil, "sorted")
        try expectCurrent(filtered, few, "filtered")
    }
}
