import Foundation
import SealedData

/// Six attributes of different types.
@Model
final class Item {
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Date
    var isMarked: Bool

    init(number: Int) {
        self.number = number
        weight = Double(number) * 0.5
        name = "Name number \(number)"
        note = "A somewhat longer note for item \(number)"
        date = Date(timeIntervalSinceReferenceDate: Double(number))
        isMarked = number % 2 == 1
    }
}

/// Found by a unique attribute.
@Model
final class Ticket {
    @Attribute(.unique) var number: Int
    var title: String

    init(number: Int) {
        self.number = number
        title = "Ticket \(number)"
    }
}

/// The same as a plain struct, for handwritten code.
struct ItemRow {
    var id: Int64
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Date
    var isMarked: Bool
}

/// The author of many books.
@Model
final class Author {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []

    init(number: Int) {
        name = "Author number \(number)"
    }
}

/// One of many books of an author.
@Model
final class Book {
    var title: String
    var pages: Int
    var author: Author?

    init(number: Int, author: Author) {
        title = "The book of the number \(number)"
        pages = number % 1000
        self.author = author
    }
}

/// An author as a plain struct, with the books.
struct AuthorRow {
    var id: Int64
    var name: String
    var books: [BookRow] = []
}

/// A book as a plain struct, with the name of the author if it was read.
struct BookRow {
    var id: Int64
    var title: String
    var pages: Int
    var authorName: String?
}
