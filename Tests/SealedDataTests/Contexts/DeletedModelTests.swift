import Foundation
import SealedData
import Testing

@Suite("The state of a deleted model") struct DeletedModelTests {
    private let library = Library()

    private func saved() throws -> (ModelContext, Book) {
        let context = try library.context(books: 1)
        return (context, try #require(try context.fetch(FetchDescriptor<Book>()).first))
    }

    @Test func `before the save it is deleted and in its context`() throws {
        let (context, book) = try saved()
        context.delete(book)
        #expect(book.isDeleted)
        #expect(book.hasChanges)
        #expect(book.modelContext === context)
        #expect(context.deletedModelsArray.count == 1)
        context.rollback()
        #expect(!book.isDeleted)
        #expect(book.modelContext === context)
    }

    @Test func `after the save it is in no context, and isDeleted is false`() throws {
        let (context, book) = try saved()
        let id = book.persistentModelID
        context.delete(book)
        try context.save()
        #expect(!book.isDeleted)
        #expect(!book.hasChanges)
        #expect(book.modelContext == nil)
        #expect(context.deletedModelsArray.isEmpty)
        #expect(book.persistentModelID == id)
        #expect(book.number == 0)
        #expect(context.registeredModel(for: id) as Book? == nil)
    }

    @Test func `models deleted by a cascade are in no context after the save`() throws {
        let (context, book) = try saved()
        let shelf = try #require(book.shelf)
        context.delete(shelf)
        #expect(book.isDeleted)
        #expect(book.modelContext === context)
        try context.save()
        #expect(!book.isDeleted)
        #expect(book.modelContext == nil)
        #expect(shelf.modelContext == nil)
    }

    @Test func `models that match the predicate of a deletion are in no context after the save`() throws {
        let (context, book) = try saved()
        try context.delete(model: Book.self, where: #Predicate { $0.number == 0 })
        try context.save()
        #expect(!book.isDeleted)
        #expect(book.modelContext == nil)
    }

    @Model
    final class Measurement {
        var value: Double

        init(value: Double) { self.value = value }
    }

    @Test func `a failed save leaves it deleted and in its context`() throws {
        let context = ModelContext(
            try ModelContainer(for: Measurement.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        )
        let deleted = Measurement(value: 1)
        context.insert(deleted)
        try context.save()
        context.delete(deleted)
        let broken = Measurement(value: .nan)
        context.insert(broken)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(deleted.isDeleted)
        #expect(deleted.modelContext === context)
        broken.value = 2
        try context.save()
        #expect(!deleted.isDeleted)
        #expect(deleted.modelContext == nil)
    }

    @Test func `merging a deletion of another context removes the model from its context`() throws {
        let (context, book) = try saved()
        let other = library.context()
        try other.delete(model: Book.self)
        try other.save()
        #expect(book.modelContext === context)
        context.processPendingChanges()
        #expect(book.isDeleted)
        #expect(book.modelContext == nil)
        #expect(book.number == 0)
    }

    @Test func `a new model that is deleted is in no context`() throws {
        let context = library.context()
        let book = Book(number: 1)
        context.insert(book)
        context.delete(book)
        #expect(book.modelContext == nil)
        try context.save()
        #expect(book.modelContext == nil)
        #expect(book.number == 1)
    }

    @Test func `an undo restores it in its context`() throws {
        let (context, book) = try saved()
        context.undoManager = UndoManager()
        context.delete(book)
        try context.save()
        #expect(book.modelContext == nil)
        context.undoManager?.undo()
        #expect(book.modelContext === context)
        #expect(!book.isDeleted)
        try context.save()
        #expect(try library.context().fetchCount(FetchDescriptor<Book>()) == 1)
        context.delete(book)
        #expect(book.isDeleted)
        try context.save()
        #expect(!book.isDeleted)
        #expect(book.modelContext == nil)
    }

    @Test func `it can be inserted into another context as a new model`() throws {
        let (context, book) = try saved()
        context.delete(book)
        try context.save()
        context.insert(book)
        #expect(book.modelContext === context)
        #expect(!book.isDeleted)
        try context.save()
        #expect(try library.context().fetch(FetchDescriptor<Book>()).map(\.number) == [0])
    }
}
