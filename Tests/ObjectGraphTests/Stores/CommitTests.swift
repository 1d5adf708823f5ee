@testable import ObjectGraph
import TestSupport
import Testing

/// What contexts and live results learn of a commit.
@Suite struct CommitTests {
    // context               | another context
    //                       | reads the members
    // deletes in the store  |
    //                       | merges
    @Test(arguments: StoreKind.allCases)
    func `an object that a batch request deletes keeps its last members`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book", ["name": "b"])
        book.addMember(context.make("Tag", ["name": "t"]), forRelationship: "tags")
        try context.save()
        let other = store.context()
        let held = try other.counterpart(of: book)
        #expect(held[many: "tags"].texts("name") == ["t"])
        try context.execute(BatchDeleteRequest(book.entity))
        other.processPendingChanges()
        #expect(held.isObjectDeleted)
        #expect(held[many: "tags"].texts("name") == ["t"])
    }

    // context                                | context with live results
    //                                        | shows the author
    // inserts a book of the author with tags |
    //                                        | merges
    @Test(arguments: StoreKind.allCases)
    func `an inserted object with several relationships modifies the owner of each`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "a"])
        let tags = ["x", "y"].map { context.make("Tag", ["name": .text($0)]) }
        try context.save()
        let other = store.context()
        let followed = try FollowedResults(other.request("Author"), in: other)
        let book = context.make("Book", ["name": "b"])
        author.addMember(book, forRelationship: "books")
        for tag in tags { book.addMember(tag, forRelationship: "tags") }
        try context.save()
        other.processPendingChanges()
        let slot = try #require(author.entity.relationship(named: "books")).slot
        #expect(followed.updates.last?.modifications.map { $0.slots.contains(slot) } == [true])
    }

    // context with a list                      | the same context
    //                                          | changes a column of all members in the store
    @Test(arguments: StoreKind.allCases)
    func `a batch update of an attribute leaves lists loaded, and faults unread`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        let author = writer.make("Author", ["name": "a"])
        for number in 0..<4 {
            author.addMember(writer.make("Book", ["pages": .integer(Int64(number))]), forRelationship: "books")
        }
        try writer.save()
        let context = store.context()
        let held = try context.counterpart(of: author)
        let books = held[many: "books"]
        #expect(books.count == 4)
        let fault = store.context().object(with: books[0].managedObjectID)
        try context.execute(BatchUpdateRequest(books[0].entity, propertiesToUpdate: ["pages": .literal(.integer(9))]))
        store.counter.reset()
        #expect(held[many: "books"].allSatisfy { $0["pages"] == 9 })
        #expect(store.counter.reads == 0)
        fault.managedObjectContext?.processPendingChanges()
        #expect(store.counter.reads == 0)
    }
}
