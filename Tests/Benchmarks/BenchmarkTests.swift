import Foundation
import SealedData
import Testing

/// The budgets of the design, measured; `Scripts/benchmark` runs them in a release build. Nothing is asserted but that
/// both sides do the same work.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["BENCHMARK_ROWS"] != nil))
struct BenchmarkTests {
    private let rows = ProcessInfo.processInfo.environment["BENCHMARK_ROWS"].flatMap(Int.init) ?? 100_000
    private let key = (0..<32).map { UInt8($0) }

    @Test func `operations beside the same by hand`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let file = folder.appending(path: "items.store")
        let container = try open(file)
        try insert(rows, into: container)
        let context = ModelContext(container)
        for number in 0..<rows { context.insert(Ticket(number: number)) }
        try context.save()
        let byHand = try HandWrittenDatabase(file, key: key, creates: false)
        try #require(byHand.count() == rows)

        let filter = ProcessInfo.processInfo.environment["BENCHMARK_FILTER"]
        let benchmarks = [insertion(in: folder)] + reading(container, byHand) + [change(container, byHand)]
        var results: [Benchmark.Result] = []
        print(Benchmark.Result.header)
        for benchmark in benchmarks where filter.map(benchmark.operation.contains) ?? true {
            let result = try benchmark.measure()
            print(result.line)
            results.append(result)
        }
        if let path = ProcessInfo.processInfo.environment["BENCHMARK_JSON"] {
            try JSONEncoder().encode(results).write(to: URL(filePath: path))
        }
    }

    private func open(_ file: URL) throws -> ModelContainer {
        try ModelContainer(for: Item.self, Ticket.self, configurations: ModelConfiguration(url: file, key: .raw(key)))
    }

    private func insert(_ count: Int, into container: ModelContainer) throws {
        let context = ModelContext(container)
        for number in 0..<count { context.insert(Item(number: number)) }
        try context.save()
    }

    private func insertion(in folder: URL) -> Benchmark {
        // The files are removed after each run: else the machine's memory fills with them, and whichever side needs fresh
        // memory pays for it.
        func inNewFile(_ body: (URL) throws -> UInt64) throws -> UInt64 {
            let folder = folder.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            return try body(folder.appending(path: "new.store"))
        }
        return Benchmark(
            operation: "insert and save",
            budget: 1.3,
            rows: rows,
            ours: {
                try inNewFile { file in
                    let container = try open(file)
                    return try nanoseconds { try insert(rows, into: container) }
                }
            },
            baseline: {
                try inNewFile { file in
                    let database = try HandWrittenDatabase(file, key: key, creates: true)
                    return try nanoseconds { try database.insert(rows) }
                }
            }
        )
    }

    private func reading(_ container: ModelContainer, _ byHand: HandWrittenDatabase) -> [Benchmark] {
        let limit = 100
        let lookups = min(rows, 5000)
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
                rows: rows,
                ours: {
                    let context = ModelContext(container)
                    var items: [Item] = []
                    let time = try nanoseconds { items = try context.fetch(FetchDescriptor<Item>()) }
                    try #require(items.count == rows)
                    return time
                },
                baseline: {
                    var items: [ItemRow] = []
                    let time = try nanoseconds { items = try byHand.all() }
                    try #require(items.count == rows)
                    return time
                }
            ),
            Benchmark(
                operation: "fetch and read every property",
                budget: 1.6,
                rows: rows,
                ours: {
                    let context = ModelContext(container)
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
                        for item in try byHand.all() {
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
                rows: rows,
                ours: {
                    let context = ModelContext(container)
                    var items: [Item] = []
                    let time = try nanoseconds { items = try context.fetch(marked) }
                    try #require(items.count <= limit)
                    return time
                },
                baseline: { try nanoseconds { _ = try byHand.marked(containing: part, limit: limit) } }
            ),
            Benchmark(
                operation: "fetch one by unique attribute",
                budget: 1.5,
                rows: lookups,
                ours: {
                    let context = ModelContext(container)
                    return try nanoseconds {
                        for number in 0..<lookups {
                            let wanted = number &* 7919 % rows
                            let descriptor = FetchDescriptor<Ticket>(predicate: #Predicate { $0.number == wanted })
                            try #require(try context.fetch(descriptor).count == 1)
                        }
                    }
                },
                baseline: {
                    try nanoseconds {
                        try byHand.withTicketByNumber { find in
                            for number in 0..<lookups { try #require(try find(number &* 7919 % rows) != nil) }
                        }
                    }
                }
            ),
            Benchmark(
                operation: "count",
                budget: 1.1,
                rows: rows,
                ours: {
                    let context = ModelContext(container)
                    return try nanoseconds {
                        try #require(try context.fetchCount(FetchDescriptor<Item>()) == rows)
                    }
                },
                baseline: { try nanoseconds { try #require(try byHand.count() == rows) } }
            ),
        ]
    }

    private func change(_ container: ModelContainer, _ byHand: HandWrittenDatabase) -> Benchmark {
        Benchmark(
            operation: "change one property of all and save",
            budget: 1.5,
            rows: rows,
            ours: {
                let context = ModelContext(container)
                return try nanoseconds {
                    for item in try context.fetch(FetchDescriptor<Item>()) { item.isMarked.toggle() }
                    try context.save()
                }
            },
            baseline: { try nanoseconds { try byHand.toggleAll() } }
        )
    }
}
