@testable import ObjectGraph
import Testing

/// The lists of unsaved changes, and the delete rules that are applied later.
@Suite struct ChangeTrackerTests {
    /// A context with a saved author.
    private static func author(_ kind: StoreKind) throws -> (ManagedObjectContext, ManagedObject) {
        let context = try TestStore(kind).context()
        let author = context.make("Author", ["name": "Ōgai"])
        try context.save()
        return (context, author)
    }

    @Test(arguments: StoreKind.allCases)
    func `an updated object that is deleted counts once, and is updated when it is restored`(kind: StoreKind) throws {
        let (context, author) = try Self.author(kind)
        let changes = context.changeTracker
        author["name"] = "Mori Ōgai"
        #expect(changes.updated.count == 1)
        context.delete(author)
        #expect(changes.updated.count == 0)
        #expect(changes.deleted.count == 1)
        #expect(changes.changeCount == 1)
        context.insert(author)
        #expect(changes.updated.count == 1)
        #expect(changes.deleted.count == 0)
        #expect(author["name"] == "Mori Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object that is deleted leaves no change`(kind: StoreKind) throws {
        let (context, _) = try Self.author(kind)
        let new = context.make("Author")
        #expect(context.changeTracker.changeCount == 1)
        context.delete(new)
        #expect(context.changeTracker.changeCount == 0)
        #expect(!context.hasChanges)
        #expect(new.isMissing)
    }

    @Test(arguments: StoreKind.allCases)
    func `each change of the lists changes the stamps, and a value of a listed object does not`(kind: StoreKind) throws
    {
        let (context, author) = try Self.author(kind)
        let changes = context.changeTracker
        var stamps = [changes.stamp]
        author["name"] = "Mori Ōgai"
        stamps.append(changes.stamp)
        author["name"] = "Mori Rintarō"
        #expect(changes.stamp == stamps[1])
        context.delete(author)
        stamps.append(changes.stamp)
        context.rollback()
        stamps.append(changes.stamp)
        for (position, stamp) in stamps.enumerated() { #expect(stamps.firstIndex(of: stamp) == position) }
    }

    @Test(arguments: StoreKind.allCases)
    func `the first change is announced once until the changes end`(kind: StoreKind) throws {
        let (context, author) = try Self.author(kind)
        var announcements = 0
        context.didGetChanges = { announcements += 1 }
        author["name"] = "Mori Ōgai"
        context.make("Author")
        #expect(announcements == 1)
        context.announcesNextChange = true
        author["born"] = 1862
        #expect(announcements == 1)
        context.make("Author")
        #expect(announcements == 2)
        context.rollback()
        author["born"] = 1862
        #expect(announcements == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `delete rules wait until a relationship or a change is read`(kind: StoreKind) throws {
        let (context, author) = try Self.author(kind)
        let book = context.make("Book")
        book[one: "author"] = author
        let chapter = context.make("Chapter")
        chapter[one: "book"] = book
        try context.save()
        context.delete(book)
        #expect(context.changeTracker.unpropagatedDeletes.count == 1)
        #expect(context.changeTracker.deleted.count == 1)
        #expect(chapter.hasPendingDeletion)
        #expect(context.changeTracker.unpropagatedDeletes.isEmpty)
        #expect(context.changeTracker.deleted.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `delete rules are applied at once if objects may be observed, and not while they are suspended`(
        kind: StoreKind
    ) throws {
        let (context, _) = try Self.author(kind)
        let books = [context.make("Book"), context.make("Book")]
        let chapters = books.map { book in
            let chapter = context.make("Chapter")
            chapter[one: "book"] = book
            return chapter
        }
        try context.save()
        chapters[0]._$beginObserving(at: 0)
        context.delete(books[0])
        #expect(context.changeTracker.deleted.count == 2)
        context.deletePropagation.suspending {
            context.delete(books[1])
            #expect(context.changeTracker.deleted.count == 3)
        }
        #expect(context.changeTracker.unpropagatedDeletes.count == 1)
        #expect(chapters[1].hasPendingDeletion)
    }

    @Test(arguments: StoreKind.allCases)
    func `delete rules are applied at once if an object was observed before its insertion`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        let book = ManagedObject.make(context.model, "Book")
        let chapter = ManagedObject.make(context.model, "Chapter")
        chapter._$beginObserving(at: 0)
        chapter[one: "book"] = book
        context.insert(chapter)
        try context.save()
        context.delete(book)
        #expect(context.changeTracker.deleted.count == 2)
    }
}
