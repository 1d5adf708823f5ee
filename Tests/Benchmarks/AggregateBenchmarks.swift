import Foundation
import SealedData
import Testing

/// Aggregates of all items, which create no objects.
enum AggregateBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        [
            Benchmark(
                operation: "count",
                budget: 1.1,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    return try nanoseconds {
                        try #require(try context.fetchCount(FetchDescriptor<Item>()) == bench.rows)
                    }
                },
                baseline: { try nanoseconds { try #require(try bench.byHand.count() == bench.rows) } }
            ),
            Benchmark(
                operation: "sum and average",
                budget: 1.1,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    return try nanoseconds {
                        let (sum, average) = try context.aggregate(Item.self, .sum(\.number), .average(\.weight))
                        try #require(sum > 0 && average != nil)
                    }
                },
                baseline: { try nanoseconds { try #require(try bench.byHand.sumAndAverage().sum > 0) } }
            ),
            Benchmark(
                operation: "group by",
                budget: 1.1,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    return try nanoseconds {
                        let groups = try context.aggregate(
                            Item.self,
                            groupedBy: \.isMarked,
                            computing: .count(),
                            .sum(\.number)
                        )
                        try #require(groups.count == 2)
                    }
                },
                baseline: { try nanoseconds { try #require(try bench.byHand.groups().count == 2) } }
            ),
        ]
    }
}
