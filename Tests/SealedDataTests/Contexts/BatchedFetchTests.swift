import Foundation
import SealedData
import Testing

@Suite("Batched fetches of models") struct BatchedFetchTests {
    private let library = Library()
    private let sorted = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number, order: .reverse)])

    @Test func `an enumeration visits each model once and saves its changes`() throws {
        let context = try library.context(books: 250)
        var numbers: [Int] = []
        try context.enumerate(sorted, batchSize: 100) { book in
            numbers.append(book.number)
            book.isLent = book.number.isMultiple(of: 2)
        }
        #expect(numbers == Array((0..<250).reversed()))
        #expect(!context.hasChanges)
        let lent = FetchDescriptor<Book>(predicate: #Predicate { $0.isLent })
        #expect(try library.context().fetchCount(lent) == 125)
    }

    @Test func `changes may escape from an enumeration, and an error ends it`() throws {
        struct Enough: Error {}
        let context = try library.context(books: 10)
        try context.enumerate(sorted, batchSize: 3, allowEscapingMutations: true) { $0.isLent = true }
        #expect(context.hasChanges)
        #expect(context.changedModelsArray.count == 10)
        var count = 0
        #expect(throws: Enough.self) {
            try context.enumerate(sorted, batchSize: 3) { _ in
                count += 1
                if count == 5 { throw Enough() }
            }
        }
        #expect(count == 5)
    }

    @Test(arguments: [1, 4, 100])
    func `an enumeration leaves out the models that it has deleted`(batchSize: Int) throws {
        let context = try library.context(books: 10)
        let books = try context.fetch(sorted)
        var numbers: [Int] = []
        try context.enumerate(sorted, batchSize: batchSize) { book in
            numbers.append(book.number)
            if book.number > 0, !book.number.isMultiple(of: 3) { context.delete(books[9 - (book.number - 1)]) }
        }
        #expect(numbers == [9, 8, 6, 5, 3, 2, 0])
        #expect(try context.fetchCount(sorted) == 7)
    }

    @Test func `a collection of results reads its models when they are reached`() throws {
        _ = try library.context(books: 100)
        let context = library.context()
        let books = try context.fetch(sorted, batchSize: 10)
        #expect(books.count == 100)
        #expect(books[99].number == 0)
        #expect(books.map(\.number) == Array((0..<100).reversed()))
        #expect(books[5] === books[5])
        #expect(books.last?.shelf?.name == "shelf")
        let ids = try context.fetchIdentifiers(sorted, batchSize: 10)
        #expect(ids.first == books[0].persistentModelID)
    }

    @Test func `new models are included, and deleted ones have no values`() throws {
        let context = try library.context(books: 5)
        context.insert(Book(number: 77))
        let books = try context.fetch(sorted, batchSize: 2)
        #expect(books.map(\.number) == [77, 4, 3, 2, 1, 0])
        let last = try context.fetch(sorted, batchSize: 2)
        let other = library.context()
        try other.delete(model: Book.self)
        try other.save()
        #expect(last.count == 6)
        #expect(last[5].isDeleted)
    }

    @Test func `relationships are prefetched, and other key paths are refused`() throws {
        _ = try library.context(books: 50)
        let context = library.context()
        var descriptor = FetchDescriptor<Book>()
        descriptor.relationshipKeyPathsForPrefetching = [\.shelf]
        #expect(try context.fetch(descriptor).allSatisfy { $0.shelf?.books.count == 50 })
        descriptor.relationshipKeyPathsForPrefetching = [\.number]
        let error = #expect(throws: SwiftDataError.self) { try context.fetch(descriptor) }
        #expect(error == .unsupportedKeyPath)
    }
}
