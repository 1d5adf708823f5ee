// swift-format-ignore-file
// The Swift code of the article on queries, line by line: a test compares.

import Foundation
import SealedData

enum QueryArticle {
    @Model final class Writer {
        var name: String
        @Relationship(inverse: \Book.author) var books: [Book] = []

        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var subtitle: String?
        var price: Decimal
        var author: Writer?
        var priceInCents: Int { NSDecimalNumber(decimal: price * 100).intValue }

        init(title: String, subtitle: String? = nil, price: Decimal, author: Writer?) {
            self.title = title
            self.subtitle = subtitle
            self.price = price
            self.author = author
        }
    }

    static func run(write: (String) -> Void) throws {
        func print(_ value: some Any) { write("\(value)") }
        let container = try ModelContainer(
            for: Writer.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let hemingway = Writer(name: "Ernest Hemingway")
        let woolf = Writer(name: "Virginia Woolf")
        context.insert(Book(title: "The Old Man and the Sea", price: Decimal(string: "12.5")!, author: hemingway))
        context.insert(Book(title: "Across the River", price: 25, author: hemingway))
        context.insert(Book(title: "The Waves", subtitle: "A sea of voices", price: 9, author: woolf))
        try context.save()

        let cheap = #Predicate<Book> { $0.price < 20 && ($0.subtitle ?? $0.title).localizedStandardContains("SEA") }
        for book in try context.fetch(FetchDescriptor(predicate: cheap)) {
            print(book.title)
        }

        let prolific = #Predicate<Writer> { writer in
            writer.books.filter { $0.price > 10 }.count > 1 && writer.books.allSatisfy { !$0.title.isEmpty }
        }
        print(try context.fetchCount(FetchDescriptor(predicate: prolific)))

        var conditions = [#Predicate<Book> { $0.price < 30 }]
        let words = ["sea", "old"]
        conditions.append(.any(words.map { word in #Predicate { $0.title.localizedStandardContains(word) } }))
        let wanted = Predicate.all(conditions) && !cheap
        print(try context.fetchCount(FetchDescriptor(predicate: wanted)))

        let typed = try Book.predicate(format: "title CONTAINS[cd] %@ AND price < 20", arguments: ["sea"])
        print(try context.fetchCount(FetchDescriptor(predicate: typed && cheap)))

        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.priceInCents == 1250 })
        descriptor.allowsInMemoryEvaluation = true
        print(try context.fetch(descriptor).count)

        let byAuthor = FetchDescriptor<Book>(sortBy: [
            SortDescriptor(\.author?.name, comparator: .localizedStandard), SortDescriptor(\.price, order: .reverse),
        ])
        print(try context.fetch(byAuthor).map(\.title))

        var byLength = FetchDescriptor<Book>()
        byLength.sortExpressions = [
            SortExpression(#Expression { $0.subtitle }, nils: .last),
            SortExpression(#Expression { $0.title.count }, order: .reverse),
        ]
        print(try context.fetch(byLength).map(\.title))
    }
}
