import Foundation
import SealedData
import Testing

/// The price of live results that a save does not affect: both sides save one object at a time, ours with observers.
enum LiveResultsBenchmarks {
    /// A checkpoint follows each 1,000 pages: with 500 saves of two pages, always the same side would pay for it.
    private static let saves = 730

    static func all(_ bench: Workbench) -> [Benchmark] {
        // Observers of another class, and observers of other properties of the same class.
        [
            benchmark(bench, "save one object, 1 unaffected observer", budget: 1.02, observers: 1, \Ticket.number),
            benchmark(bench, "save one object, 100 unaffected observers", budget: 1.02, observers: 100, \Ticket.number),
            benchmark(bench, "save one object, 100 observers of its class", budget: 1.1, observers: 100, \Item.number),
            listBenchmark(bench),
        ]
    }

    /// A list of all items in which one item moves with each save of another context; the other side merges the saves
    /// into a context without observers.
    private static func listBenchmark(_ bench: Workbench) -> Benchmark {
        Benchmark(
            operation: "one change in a list of all objects",
            budget: 1.5,
            rows: saves,
            ours: {
                let context = ModelContext(bench.container)
                let observer = try ResultsObserver(sortBy: [SortDescriptor(\Item.weight)], modelContext: context)
                defer { withExtendedLifetime(observer) {} }
                return try nanosecondsOfMerges(into: context, from: ModelContext(bench.container))
            },
            baseline: {
                let context = ModelContext(bench.container)
                let items = try context.fetch(FetchDescriptor<Item>())
                defer { withExtendedLifetime(items) {} }
                return try nanosecondsOfMerges(into: context, from: ModelContext(bench.container))
            }
        )
    }

    private static func nanosecondsOfMerges(
        into context: ModelContext,
        from writer: ModelContext
    ) throws -> UInt64 {
        var descriptor = FetchDescriptor<Item>()
        descriptor.fetchLimit = 1
        let item = try #require(try writer.fetch(descriptor).first)
        return try nanoseconds {
            for number in 0..<saves {
                item.weight = Double(number * 100 % 100_000)
                try writer.save()
                context.processPendingChanges()
            }
        }
    }

    private static func benchmark<Model: PersistentModel>(
        _ bench: Workbench,
        _ operation: String,
        budget: Double,
        observers count: Int,
        _ order: any KeyPath<Model, Int> & Sendable
    ) -> Benchmark {
        Benchmark(
            operation: operation,
            budget: budget,
            rows: saves,
            ours: {
                let context = ModelContext(bench.container)
                var descriptor = FetchDescriptor<Model>(sortBy: [SortDescriptor(order)])
                descriptor.fetchLimit = 10
                let observers = try (0..<count).map { _ in
                    try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
                }
                defer { withExtendedLifetime(observers) {} }
                return try nanosecondsOfSaves(context)
            },
            baseline: { try nanosecondsOfSaves(ModelContext(bench.container)) }
        )
    }

    private static func nanosecondsOfSaves(_ context: ModelContext) throws -> UInt64 {
        var descriptor = FetchDescriptor<Item>()
        descriptor.fetchLimit = 1
        let item = try #require(try context.fetch(descriptor).first)
        return try nanoseconds {
            for _ in 0..<saves {
                item.weight += 1
                try context.save()
            }
        }
    }
}
