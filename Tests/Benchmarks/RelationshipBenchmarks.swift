import Foundation
import SealedData
import Testing

/// Traversals of relationships, and deletions by cascade.
enum RelationshipBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        [
            Benchmark(
                operation: "walk a to-one relationship for all",
                budget: 1.5,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    var sum = 0
                    let time = try nanoseconds {
                        for book in try context.fetch(FetchDescriptor<Book>()) {
                            sum &+= book.pages &+ (book.author?.name.utf8.count ?? 0)
                        }
                    }
                    try #require(sum != 0)
                    return time
                },
                baseline: {
                    var sum = 0
                    let time = try nanoseconds {
                        for book in try bench.byHand.booksWithAuthors() {
                            sum &+= book.pages &+ (book.authorName?.utf8.count ?? 0)
                        }
                    }
                    try #require(sum != 0)
                    return time
                }
            ),
            Benchmark(
                operation: "walk a to-many relationship for all",
                budget: 1.5,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    var sum = 0
                    let time = try nanoseconds {
                        for author in try context.fetch(FetchDescriptor<Author>()) {
                            for book in author.books { sum &+= book.pages }
                        }
                    }
                    try #require(sum != 0)
                    return time
                },
                baseline: {
                    var sum = 0
                    let time = try nanoseconds {
                        for author in try bench.byHand.authorsWithBooks() {
                            for book in author.books { sum &+= book.pages }
                        }
                    }
                    try #require(sum != 0)
                    return time
                }
            ),
        ]
    }

    /// Deletes all authors of a copy of a file with their books.
    static func deletion(_ bench: Workbench) throws -> Benchmark {
        let file = bench.folder.appending(path: "library.store")
        try bench.fillLibrary(file)
        return Benchmark(
            operation: "delete all with cascade",
            budget: 1.5,
            rows: bench.rows,
            ours: {
                try bench.withCopy(of: file) { copy in
                    let container = try bench.open(copy)
                    let context = ModelContext(container)
                    return try nanoseconds {
                        for author in try context.fetch(FetchDescriptor<Author>()) { context.delete(author) }
                        try context.save()
                    }
                }
            },
            baseline: {
                try bench.withCopy(of: file) { copy in
                    let database = try HandWrittenDatabase(copy, .raw(bench.key), creates: false)
                    return try nanoseconds { try database.deleteAllAuthors() }
                }
            }
        )
    }
}

extension Workbench {
    /// Creates a file with authors and books, and closes it.
    fileprivate func fillLibrary(_ file: URL) throws {
        let context = ModelContext(try open(file))
        var author = Author(number: 0)
        for number in 0..<rows {
            if number % 10 == 0 { author = Author(number: number) }
            context.insert(Book(number: number, author: author))
        }
        try context.save()
    }
}
