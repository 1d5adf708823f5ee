import Foundation
import SealedData
import Testing

/// The price of a history: the same saves with and without one.
enum HistoryBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        [
            benchmark(bench, "insert and save, with a history", HistoryOptions(), insert),
            benchmark(bench, "change one property of all and save, with a history", HistoryOptions(), change),
            benchmark(bench, "save one object, 500 times, with a history", HistoryOptions(), changeOne),
            benchmark(
                bench,
                "change one property of all and save, with recorded values",
                HistoryOptions(recordsValues: true),
                change
            ),
        ]
    }

    /// - Parameter measured: Returns the time of saves in a container with or without a history.
    private static func benchmark(
        _ bench: Workbench,
        _ operation: String,
        _ history: HistoryOptions,
        _ measured: @escaping (ModelContainer, Int) throws -> UInt64
    ) -> Benchmark {
        func run(_ history: HistoryOptions?) throws -> UInt64 {
            try bench.withNewFile { file in
                var configuration = ModelConfiguration(url: file, key: try .raw(bench.key))
                configuration.history = history
                return try measured(ModelContainer(for: Item.self, configurations: configuration), bench.rows)
            }
        }
        return Benchmark(
            operation: operation,
            budget: history.recordsValues ? 2 : 1.1,
            rows: bench.rows,
            ours: { try run(history) },
            baseline: { try run(nil) }
        )
    }

    private static func insert(_ container: ModelContainer, _ rows: Int) throws -> UInt64 {
        try nanoseconds {
            let context = ModelContext(container)
            for number in 0..<rows { context.insert(Item(number: number)) }
            try context.save()
        }
    }

    private static func change(_ container: ModelContainer, _ rows: Int) throws -> UInt64 {
        _ = try insert(container, rows)
        let context = ModelContext(container)
        return try nanoseconds {
            for item in try context.fetch(FetchDescriptor<Item>()) { item.isMarked.toggle() }
            try context.save()
        }
    }

    private static func changeOne(_ container: ModelContainer, _ rows: Int) throws -> UInt64 {
        _ = try insert(container, 100)
        let context = ModelContext(container)
        let item = try #require(try context.fetch(FetchDescriptor<Item>()).first)
        return try nanoseconds {
            for _ in 0..<500 {
                item.weight += 1
                try context.save()
            }
        }
    }
}
