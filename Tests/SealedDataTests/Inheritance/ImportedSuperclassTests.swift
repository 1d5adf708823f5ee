import Foundation
import ModelLibrary
import SealedData
import Testing

@Suite("Model classes with superclasses of other modules")
struct ImportedSuperclassTests {
    @Model final class Magazine: Periodical {
        var isGlossy: Bool
        let editor: String
        var rate: Double = 1.5 {
            didSet { changes += 1 }
        }
        @Transient var changes = 0

        override var title: String {
            didSet { changes += 100 }
        }

        init(code: String, editor: String) {
            isGlossy = true
            self.editor = editor
            super.init(code: code, title: "Magazine", issues: [1, 2])
        }

        override func label() -> String { super.label() + " by \(editor)" }
    }

    @Model final class Book: Publication {
        var pages: Int?
    }

    @Test func `an object is saved and read with the values of all of its classes`() throws {
        let new = Magazine(code: "M1", editor: "E")
        new.publisher = Publisher(name: "P")
        let saved = try Saved(new)
        let magazine = saved.model
        #expect((magazine.code, magazine.title, magazine.issues) == ("M1", "Magazine", [1, 2]))
        #expect((magazine.isGlossy, magazine.editor, magazine.rate) == (true, "E", 1.5))
        #expect(magazine.registered == Date(timeIntervalSinceReferenceDate: 0))
        #expect(magazine.publisher?.name == "P")
        #expect(magazine.publisher?.publications as? [Magazine] == [magazine])
        #expect(magazine.label() == "Magazine (M1) by E")
    }

    @Test func `a class may override a property to observe it`() throws {
        let magazine = try Saved(Magazine(code: "M1", editor: "E")).model
        magazine.title = "Other"
        magazine.rate = 2
        #expect(magazine.changes == 101)
        #expect(magazine.title == "Other")
    }

    @Test func `inherited properties are found in predicates and sorting`() throws {
        let container = try ModelContainer(
            for: Magazine.self,
            Book.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for (code, title) in [("B1", "b"), ("B2", "a"), ("B3", "b")] { context.insert(Book(code: code, title: title)) }
        context.insert(Magazine(code: "M1", editor: "E"))
        try context.save()
        let books = try context.fetch(
            FetchDescriptor<Book>(
                predicate: #Predicate { $0.title == "b" && $0.pages == nil },
                sortBy: [SortDescriptor(\.code, order: .reverse)]
            )
        )
        #expect(books.map(\.code) == ["B3", "B1"])
        let all = try context.fetch(FetchDescriptor<Publication>(sortBy: [SortDescriptor(\.title)]))
        #expect(all.map(\.title) == ["Magazine", "a", "b", "b"])
        #expect(all.first is Magazine)
    }

    @Test func `a constraint of the superclass applies to all subclasses`() throws {
        let container = try ModelContainer(
            for: Book.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        context.insert(Book(code: "B1", title: "first"))
        try context.save()
        context.insert(Book(code: "B1", title: "second"))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Book>()).map(\.title) == ["second"])
    }
}
