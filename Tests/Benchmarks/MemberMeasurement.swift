import Foundation
import SealedData

/// One author with very many books.
struct MemberMeasurement {
    private let members: Int
    private var addition = 0.0
    private var count = 0.0
    private var walk = 0.0
    private var removal = 0.0

    var lines: [String] {
        [
            String(format: "an author of %d books: another book, saved: %.0f µs", members, addition / 1e3),
            String(format: "  how many there are, by a fetch: %.1f ms", count / 1e6),
            String(format: "  reading all of them: %.0f ns/row", walk),
            String(format: "  taking one out and saving, all being loaded: %.0f µs", removal / 1e3),
        ]
    }

    init(members: Int, in folder: URL) throws {
        self.members = members
        let configuration = try ModelConfiguration(
            url: folder.appending(path: "members.store"),
            key: .raw(Array(repeating: 7, count: 32))
        )
        let container = try ModelContainer(for: Author.self, configurations: configuration)
        do {
            let context = ModelContext(container)
            let author = Author(number: 0)
            for number in 0..<members { context.insert(Book(number: number, author: author)) }
            try context.save()
        }
        let context = ModelContext(container)
        guard let author = try context.fetch(FetchDescriptor<Author>()).first else { return }
        addition = try (0..<51).map { number in
            try nanoseconds {
                context.insert(Book(number: number, author: author))
                try context.save()
            }
        }.percentile(0.5)
        let name = author.name
        count = try (0..<7).map { _ in
            try nanoseconds {
                _ = try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author?.name == name }))
            }
        }.percentile(0.5)
        walk = Double(nanoseconds { _ = author.books.count }) / Double(members)
        var books = author.books
        removal = try (0..<51).map { _ in
            let book = books.removeLast()
            return try nanoseconds {
                book.author = nil
                try context.save()
            }
        }.percentile(0.5)
    }
}
