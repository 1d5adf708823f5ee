import Foundation
import SealedData
import Testing

@Suite("Deleting models by predicate") struct DeletingModelsTests {
    private let library = Library()

    @Test func `matching saved and unsaved models are deleted, and the others stay`() throws {
        let context = try library.context(books: 10)
        context.insert(Book(number: 100))
        let changed = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.number == 1 })).first
        )
        changed.number = 50
        try context.delete(model: Book.self, where: #Predicate { $0.number >= 5 })
        #expect(context.hasChanges)
        #expect(changed.isDeleted)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 4)
        try context.save()
        #expect(try library.context().fetch(FetchDescriptor<Book>()).map(\.number).sorted() == [0, 2, 3, 4])
    }

    @Test func `a deletion applies the delete rules and can be rolled back`() throws {
        let context = try library.context(books: 3)
        try context.delete(model: Shelf.self)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 3)
        try context.delete(model: Shelf.self, where: #Predicate { $0.books.contains { $0.number == 2 } })
        try context.save()
        #expect(try library.context().fetchCount(FetchDescriptor<Book>()) == 0)
    }
}
