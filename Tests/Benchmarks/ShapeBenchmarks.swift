import Foundation
import SealedData
import Testing

/// Insertion and reading of entities of other shapes: three indexes, ten integers, an integer and bytes.
enum ShapeBenchmarks {
    static func all(_ bench: Workbench) throws -> [Benchmark] {
        try pair(
            bench,
            "entities with three indexes",
            Event.init,
            { $0.number &+ Int($0.weight) &+ $0.name.utf8.count &+ $0.note.utf8.count &+ ($0.isMarked ? 1 : 0) },
            create: { try $0.createEvents() },
            insert: { try $0.insertEvents(bench.rows) },
            sum: { database in
                try database.allEvents().reduce(0) {
                    $0 &+ $1.number &+ Int($1.weight) &+ $1.name.utf8.count &+ $1.note.utf8.count
                        &+ ($1.isMarked ? 1 : 0)
                }
            }
        )
            + pair(
                bench,
                "entities of ten integers",
                Measurement.init,
                { $0.a &+ $0.b &+ $0.c &+ $0.d &+ $0.e &+ $0.f &+ $0.g &+ $0.h &+ $0.i &+ $0.j },
                create: { try $0.createMeasurements() },
                insert: { try $0.insertMeasurements(bench.rows) },
                sum: { database in try database.allMeasurements().reduce(0) { $0 &+ $1.sum } }
            )
            + pair(
                bench,
                "entities of 100 bytes",
                Packet.init,
                { $0.number &+ Int($0.content[0]) },
                create: { try $0.createPackets() },
                insert: { try $0.insertPackets(bench.rows) },
                sum: { database in try database.allPackets().reduce(0) { $0 &+ $1.number &+ Int($1.content[0]) } }
            )
    }

    /// The insertion into a new file, and reading from a file that the package has filled.
    private static func pair<Model: PersistentModel>(
        _ bench: Workbench,
        _ shape: String,
        _ make: @escaping (Int) -> Model,
        _ sum: @escaping (Model) -> Int,
        create: @escaping (HandWrittenDatabase) throws -> Void,
        insert: @escaping (HandWrittenDatabase) throws -> Void,
        sum sumByHand: @escaping (HandWrittenDatabase) throws -> Int
    ) throws -> [Benchmark] {
        func fill(_ container: ModelContainer) throws {
            let context = ModelContext(container)
            for number in 0..<bench.rows { context.insert(make(number)) }
            try context.save()
        }
        let filled = bench.folder.appending(path: "\(Model.self).store")
        let container = try bench.open(filled, for: Model.self)
        try fill(container)
        let byHand = try HandWrittenDatabase(filled, .raw(bench.key), creates: false)
        return [
            Benchmark(
                operation: "insert \(shape)",
                budget: 1.3,
                rows: bench.rows,
                ours: {
                    try bench.withNewFile { file in
                        let container = try bench.open(file, for: Model.self)
                        return try nanoseconds { try fill(container) }
                    }
                },
                baseline: {
                    try bench.withNewFile { file in
                        let database = try HandWrittenDatabase(file, .raw(bench.key), creates: true)
                        try create(database)
                        return try nanoseconds { try insert(database) }
                    }
                }
            ),
            Benchmark(
                operation: "fetch and read \(shape)",
                budget: 1.3,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(container)
                    var result = 0
                    let time = try nanoseconds {
                        for model in try context.fetch(FetchDescriptor<Model>()) { result &+= sum(model) }
                    }
                    try #require(result != 0)
                    return time
                },
                baseline: {
                    var result = 0
                    let time = try nanoseconds { result = try sumByHand(byHand) }
                    try #require(result != 0)
                    return time
                }
            ),
        ]
    }
}
