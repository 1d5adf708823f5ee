import CMeters
import Foundation
import SealedData

/// The memory of clean objects, counted by the allocator.
struct MemoryMeasurement {
    /// Bytes for each object, its entries in the context's table and in the array of results included.
    let bytesPerObject: Double
    /// The bytes of the attributes of a row.
    let bytesPerRow: Double

    /// The number of allocations for each object; nil if allocations are not counted.
    let allocationsPerObject: Double?

    /// The budget of bytes for an object beyond its row.
    static let budget = 160.0

    init(of bench: Workbench) throws {
        // Memory that is allocated once and kept is not counted, such as the page caches of connections.
        for _ in 0..<3 { _ = try ModelContext(bench.container).fetch(FetchDescriptor<Item>()) }
        let context = ModelContext(bench.container)
        let before = Self.usedBytes
        cmeters_arm(1)
        cmeters_begin()
        let items = try context.fetch(FetchDescriptor<Item>())
        cmeters_end()
        cmeters_arm(0)
        allocationsPerObject =
            cmeters_are_there() != 0 ? Double(cmeters_last().allocations) / Double(items.count) : nil
        bytesPerObject = Double(Self.usedBytes - before) / Double(items.count)
        let texts = items.map { $0.name.utf8.count + $0.note.utf8.count }.reduce(0, +)
        bytesPerRow = 4 * 8 + Double(texts) / Double(items.count)
    }

    /// The result in the form of those of operations, with bytes instead of times.
    var result: Benchmark.Result {
        Benchmark.Result(
            operation: "bytes per fetched clean object, over row bytes + 160",
            ratio: bytesPerObject / (bytesPerRow + Self.budget),
            budget: 1,
            ours_ns_per_row: nil,
            baseline_ns_per_row: nil,
            spread: 0,
            allocations_per_row: allocationsPerObject,
            peak_bytes: nil,
            statements: nil
        )
    }

    var line: String {
        String(
            format: "a fetched clean object takes %.0f bytes: those of its row, %.0f, and %.0f (budget %.0f)",
            bytesPerObject,
            bytesPerRow,
            bytesPerObject - bytesPerRow,
            Self.budget
        )
    }

    private static var usedBytes: Int { cmeters_used_bytes() }
}
