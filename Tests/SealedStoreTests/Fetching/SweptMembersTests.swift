import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Members that the context releases and reads again.
@Suite struct SweptMembersTests {
    /// Reading the missing members must not release the registered ones.
    @Test func `all members are returned, whichever of them are registered`() throws {
        let folder = TemporaryFolder()
        let library = try Library(folder.file("library.store"))
        let authors = ["A", "B"].map { library.insert("Author", ["name": .text($0)]) }
        for (author, count) in zip(authors, [3_000, 2_000]) {
            for number in 0..<count {
                let book = library.insert("Book", ["title": .text("\(number)"), "pages": .integer(Int64(number))])
                book.setDestination(author, forRelationship: "author")
            }
        }
        try library.context.save()

        let context = ManagedObjectContext(coordinator: library.context.coordinator)
        let author = try #require(context.object(with: authors[0].managedObjectID) as? ManagedObject)
        let book = library.entity("Book")
        let pages = QueryExpression.path(book.propertiesByName["pages"]!)
        let writer = QueryExpression.path(book.propertiesByName["author"]!)
        func fetch(ofAuthor number: Int, below limit: Int64) throws -> Int {
            let key = QueryExpression.literal(.integer(authors[number].managedObjectID.key))
            let condition = QueryExpression.and([
                .comparison(.equal, writer, key), .comparison(.less, pages, .literal(.integer(limit))),
            ])
            return try context.fetch(FetchRequest(book, predicate: condition), as: ManagedObject.self).count
        }
        #expect(author.members(forRelationship: "books").count == 3_000)
        #expect(try fetch(ofAuthor: 1, below: 2_000) == 2_000)
        #expect(try fetch(ofAuthor: 0, below: 1_500) == 1_500)
        #expect(author.members(forRelationship: "books").count == 3_000)
    }
}
