import Foundation
import SealedData
import Testing

/// A model with a large value.
@Model
final class Film {
    var rating: Int
    @Attribute(.externalStorage) var content: Data?

    init(rating: Int, content: Data?) {
        self.rating = rating
        self.content = content
    }
}

/// A list with very many entries.
@Model
final class Playlist {
    var name = ""
    @Relationship(inverse: \PlaylistEntry.list) var entries: [PlaylistEntry] = []

    init() {}
}

@Model
final class PlaylistEntry {
    var number: Int
    var list: Playlist?

    init(number: Int) { self.number = number }
}

/// Changes beside large values and in large relationships, compared with the same changes without them.
enum LargeValueBenchmarks {
    private static let films = 60
    private static let valueSize = 1 << 20
    private static let entries = 32_000
    private static let deletions = 200

    static func all(_ bench: Workbench) throws -> [Benchmark] {
        let large = try films(bench, "large", Data(repeating: 7, count: valueSize))
        let small = try films(bench, "small", nil)
        return [
            Benchmark(
                operation: "change beside a value of 1 MB, to none",
                budget: 1.1,
                rows: films,
                ours: { try change(large) },
                baseline: { try change(small) }
            ),
            // Removing the first element moves the other elements of any array, and the list is compared with its
            // successor, element by element.
            Benchmark(
                operation: "delete the first of 32,000 members, to an array",
                budget: 6,
                rows: deletions,
                ours: { try deleteFirst(bench, of: entries) },
                baseline: { try deleteFirst(bench, of: 500) + removeFirst(of: entries) }
            ),
        ]
    }

    private static func films(_ bench: Workbench, _ name: String, _ content: Data?) throws -> ModelContainer {
        let container = try bench.open(bench.folder.appending(path: "\(name) films.store"), for: Film.self)
        let context = ModelContext(container)
        for number in 0..<films { context.insert(Film(rating: number, content: content)) }
        try context.save()
        return container
    }

    private static func change(_ container: ModelContainer) throws -> UInt64 {
        let context = ModelContext(container)
        let films = try context.fetch(FetchDescriptor<Film>())
        try #require(films.count == Self.films)
        return try nanoseconds {
            for film in films { film.rating += 1 }
            try context.save()
        }
    }

    private static func removeFirst(of count: Int) -> UInt64 {
        var entries = (0..<count).map(PlaylistEntry.init)
        return nanoseconds {
            for _ in 0..<deletions { _ = entries.removeFirst() }
        }
    }

    private static func deleteFirst(_ bench: Workbench, of count: Int) throws -> UInt64 {
        try bench.withNewFile { file in
            let context = ModelContext(try bench.open(file, for: Playlist.self))
            let list = Playlist()
            context.insert(list)
            list.entries = (0..<count).map(PlaylistEntry.init)
            try context.save()
            _ = list.entries.count
            return nanoseconds {
                for _ in 0..<deletions { context.delete(list.entries.removeFirst()) }
            }
        }
    }
}
