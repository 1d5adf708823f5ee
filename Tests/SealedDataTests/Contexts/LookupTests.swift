import Foundation
import SealedData
import Testing

@Suite("Finding models by identifier") struct LookupTests {
    private let library = Library()

    @Model
    final class Stranger {
        var name = ""
        init() {}
    }

    @Test func `an unregistered model is a fault that is filled when it is read`() throws {
        let id = try #require(
            try library.context(books: 1).fetch(FetchDescriptor<Book>()).first
        ).persistentModelID
        let context = library.context()
        #expect(context.registeredModel(for: id) as Book? == nil)
        let book = try #require(context.model(for: id) as? Book)
        #expect(book.persistentModelID == id)
        #expect(book.modelContext === context)
        #expect(context.registeredModel(for: id) as Book? === book)
        #expect(context.registeredModel(for: id) as Shelf? == nil)
        #expect(book.number == 0)
        #expect(book.shelf?.name == "shelf")
    }

    @Test func `a model that does not exist has no values and is deleted`() throws {
        let context = try library.context(books: 1)
        let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
        let id = book.persistentModelID
        context.delete(book)
        try context.save()
        let other = library.context()
        let gone = try #require(other.model(for: id) as? Book)
        #expect(gone.number == 0)
        #expect(gone.isDeleted)
        #expect(gone.persistentModelID == id)
    }

    @Test func `an identifier of an unknown class identifies a deleted model`() throws {
        let id = try PersistentIdentifier.identifier(for: "elsewhere", entityName: "Stranger", primaryKey: 1)
        let context = library.context()
        #expect(context.model(for: id).isDeleted)
        #expect(context.model(for: id) as? Stranger == nil)
        #expect(context.registeredModel(for: id) as Stranger? == nil)
    }

    @Test func `an identifier of another store identifies a deleted model`() throws {
        let other = Library()
        let id = try #require(try other.context(books: 1).fetch(FetchDescriptor<Book>()).first).persistentModelID
        _ = try library.context(books: 1)
        let context = library.context()
        let book = try #require(context.model(for: id) as? Book)
        #expect(book.isDeleted)
    }
}
