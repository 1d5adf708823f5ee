import Foundation
import SealedData

/// A shelf with its books, for tests of contexts.
@Model
final class Shelf {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.shelf) var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model
final class Book {
    var number: Int
    var isLent = false
    var shelf: Shelf?

    init(number: Int) { self.number = number }
}

/// A container in memory for one test.
struct Library {
    let container = try! ModelContainer(
        for: Shelf.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    func context() -> ModelContext { ModelContext(container) }

    /// A context after a shelf with some books was saved.
    func context(books count: Int) throws -> ModelContext {
        let context = context()
        let shelf = Shelf(name: "shelf")
        context.insert(shelf)
        for number in 0..<count { shelf.books.append(Book(number: number)) }
        try context.save()
        return context
    }
}
