import Foundation
import SealedData
import Testing

/// Fetches of all items, of some and of one.
enum FetchingBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        let limit = 100
        let lookups = min(bench.rows, 5000)
        let part = "99"
        var descriptor = FetchDescriptor<Item>(
            predicate: #Predicate { $0.isMarked && $0.note.contains(part) },
            sortBy: [SortDescriptor(\.weight, order: .reverse)]
        )
        descriptor.fetchLimit = limit
        let marked = descriptor
        return [
            Benchmark(
                operation: "fetch all as live objects, warm",
                budget: 1.2,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    var items: [Item] = []
                    let time = try nanoseconds { items = try context.fetch(FetchDescriptor<Item>()) }
                    try #require(items.count == bench.rows)
                    return time
                },
                baseline: {
                    var items: [ItemRow] = []
                    let time = try nanoseconds { items = try bench.byHand.all() }
                    try #require(items.count == bench.rows)
                    return time
                }
            ),
            Benchmark(
                operation: "fetch all as live objects, cold pages",
                budget: 1.1,
                rows: bench.rows,
                ours: {
                    let container = try bench.open(bench.file)
                    let context = ModelContext(container)
                    var items: [Item] = []
                    let time = try nanoseconds { items = try context.fetch(FetchDescriptor<Item>()) }
                    try #require(items.count == bench.rows)
                    return time
                },
                baseline: {
                    let database = try HandWrittenDatabase(bench.file, .raw(bench.key), creates: false)
                    var items: [ItemRow] = []
                    let time = try nanoseconds { items = try database.all() }
                    try #require(items.count == bench.rows)
                    return time
                }
            ),
            Benchmark(
                operation: "fetch and read every property",
                budget: 1.6,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    var sum = 0
                    let time = try nanoseconds {
                        for item in try context.fetch(FetchDescriptor<Item>()) {
                            sum &+= item.number &+ Int(item.weight) &+ item.name.utf8.count &+ item.note.utf8.count
                            sum &+= Int(item.date.timeIntervalSinceReferenceDate) &+ (item.isMarked ? 1 : 0)
                        }
                    }
                    try #require(sum != 0)
                    return time
                },
                baseline: {
                    var sum = 0
                    let time = try nanoseconds {
                        for item in try bench.byHand.all() {
                            sum &+= item.number &+ Int(item.weight) &+ item.name.utf8.count &+ item.note.utf8.count
                            sum &+= Int(item.date.timeIntervalSinceReferenceDate) &+ (item.isMarked ? 1 : 0)
                        }
                    }
                    try #require(sum != 0)
                    return time
                }
            ),
            Benchmark(
                operation: "filtered, sorted, limited fetch",
                budget: 1.2,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    var items: [Item] = []
                    let time = try nanoseconds { items = try context.fetch(marked) }
                    try #require(items.count <= limit)
                    return time
                },
                baseline: { try nanoseconds { _ = try bench.byHand.marked(containing: part, limit: limit) } }
            ),
            Benchmark(
                operation: "fetch one by unique attribute",
                budget: 1.5,
                rows: lookups,
                settle: { try bench.endIdleTransactions() },
                ours: {
                    let context = ModelContext(bench.container)
                    return try nanoseconds {
                        for number in 0..<lookups {
                            let wanted = number &* 7919 % bench.rows
                            let descriptor = FetchDescriptor<Ticket>(predicate: #Predicate { $0.number == wanted })
                            try #require(try context.fetch(descriptor).count == 1)
                        }
                    }
                },
                baseline: {
                    try nanoseconds {
                        try bench.byHand.withTicketByNumber { find in
                            for number in 0..<lookups { try #require(try find(number &* 7919 % bench.rows) != nil) }
                        }
                    }
                }
            ),
        ]
    }
}
