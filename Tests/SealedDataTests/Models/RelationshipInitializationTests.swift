import Foundation
import SealedData
import Testing

@Suite("Relationships set by initializers")
struct RelationshipInitializationTests {
    @Model final class Author {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
        var rivals: [Author]

        init(name: String, books: [Book] = []) {
            self.name = name
            self.books = books
            rivals = []
        }
    }

    @Model final class Book {
        var title: String
        var author: Author?

        init(title: String, author: Author? = nil) {
            self.title = title
            self.author = author
        }
    }

    @Test func `a to-one relationship appears on the other side at once`() {
        let author = Author(name: "Ogai")
        let book = Book(title: "Wild Geese", author: author)
        #expect(author.books == [book])
        #expect(book.modelContext == nil)
        #expect(author.modelContext == nil)
    }

    @Test func `a to-many relationship appears on the other side at once`() {
        let books = [Book(title: "a"), Book(title: "b")]
        let author = Author(name: "Ogai", books: books)
        #expect(books.map(\.author) == [author, author])
    }

    @Test func `moving a book outside any context`() {
        let first = Author(name: "first")
        let second = Author(name: "second")
        let book = Book(title: "b", author: first)
        book.author = second
        #expect(first.books == [])
        #expect(second.books == [book])
        second.books = []
        #expect(book.author == nil)
    }

    @Test func `saving one side saves the other`() throws {
        let author = Author(name: "Ogai")
        let book = Book(title: "Wild Geese", author: author)
        let saved = try Saved(book)
        #expect(saved.model.author?.name == "Ogai")
        #expect(saved.model.author?.books == [saved.model])
    }

    @Model final class Country {
        let code: String
        var cities: [City] = []

        init(code: String) { self.code = code }
    }

    @Model final class City {
        let name: String
        @Relationship(inverse: \Country.cities) var country: Country

        init(name: String, country: Country) {
            self.country = country
            self.name = name
        }
    }

    @Test func `a class with constants relates its objects when a relationship is read`() {
        let country = Country(code: "jp")
        let city = City(name: "Kyoto", country: country)
        #expect(city.country == country)
        #expect(country.cities == [city])
    }

    @Test func `a class with constants relates its objects when it is saved`() throws {
        let saved = try Saved(City(name: "Kyoto", country: Country(code: "jp")))
        #expect(saved.model.country.code == "jp")
        #expect(saved.model.country.cities == [saved.model])
    }

    @Model final class Node {
        var name: String
        @Relationship(inverse: \Node.children) var parent: Node?
        var children: [Node]?
        @Relationship(inverse: nil) var favourite: Node?

        init(_ name: String, parent: Node? = nil, children: [Node]? = nil) {
            self.name = name
            self.parent = parent
            self.children = children
            favourite = children?.first
        }
    }

    @Test func `a class may refer to itself`() throws {
        let leaf = Node("leaf")
        let root = Node("root", children: [leaf, Node("other", parent: nil)])
        _ = Node("late", parent: root)
        #expect(leaf.parent == root)
        #expect(root.favourite == leaf)
        let saved = try Saved(root)
        #expect(Set(saved.model.children?.map(\.name) ?? []) == ["leaf", "other", "late"])
        #expect(saved.model.favourite?.parent == saved.model)
        #expect(saved.model.favourite?.favourite == nil)
    }
}
