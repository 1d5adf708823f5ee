import Foundation
import SealedData

/// A file that is filled in many saves: the time for each row at the beginning and at the end, and the times of single
/// operations on the full file.
struct GrowthMeasurement {
    let rows: Int
    /// Nanoseconds for each row of the first and the last inserted tenth.
    private var firstInsertion = 0.0
    private var lastInsertion = 0.0
    /// Nanoseconds for each row of an enumeration of all rows in order.
    private var streaming = 0.0
    /// The peak growth of memory during the enumeration, in bytes.
    private var streamingMemory = 0
    /// Nanoseconds, each a median.
    private var insertionOfOne = 0.0
    private var changeOfOne = 0.0
    private var lookup = 0.0
    private var opening = 0.0

    private static let batch = 10_000

    static let header = """
              rows  insert, first/last tenth   stream    memory  insert one  change one  look one up     open
        """

    var line: String {
        String(
            format: "%10d  %9.0f / %5.0f ns/row  %4.0f ns  %5.1f MB  %7.0f µs  %7.0f µs  %8.1f µs  %4.2f ms",
            rows,
            firstInsertion,
            lastInsertion,
            streaming,
            Double(streamingMemory) / 1e6,
            insertionOfOne / 1e3,
            changeOfOne / 1e3,
            lookup / 1e3,
            opening / 1e6
        )
    }

    init(rows: Int, in folder: URL) throws {
        self.rows = rows
        let file = folder.appending(path: "growing.store")
        let container = try Self.open(file)
        try fill(container)
        try stream(container)
        try measureSingleOperations(container)
        opening = try (0..<21).map { _ in
            try nanoseconds { _ = try ModelContext(Self.open(file)).fetchCount(Self.one(0)) }
        }.percentile(0.5)
    }

    private static func open(_ file: URL) throws -> ModelContainer {
        try ModelContainer(
            for: Ticket.self,
            configurations: ModelConfiguration(url: file, key: .raw(Array(repeating: 7, count: 32)))
        )
    }

    private static func one(_ number: Int) -> FetchDescriptor<Ticket> {
        FetchDescriptor(predicate: #Predicate { $0.number == number })
    }

    private mutating func fill(_ container: ModelContainer) throws {
        var times: [UInt64] = []
        for start in stride(from: 0, to: rows, by: Self.batch) {
            let context = ModelContext(container)
            times.append(
                try nanoseconds {
                    for number in start..<min(start + Self.batch, rows) { context.insert(Ticket(number: number)) }
                    try context.save()
                }
            )
        }
        let tenth = max(1, times.count / 10)
        firstInsertion = Double(times.prefix(tenth).reduce(0, +)) / Double(tenth * Self.batch)
        lastInsertion = Double(times.suffix(tenth).reduce(0, +)) / Double(tenth * Self.batch)
    }

    private mutating func stream(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let before = ResidentMemory.bytes
        var most = before
        var count = 0
        let time = try nanoseconds {
            try context.enumerate(FetchDescriptor<Ticket>()) { ticket in
                count += 1
                if count % 100_000 == 0 { most = max(most, ResidentMemory.bytes) }
            }
        }
        streaming = Double(time) / Double(max(1, count))
        streamingMemory = most - before
    }

    private mutating func measureSingleOperations(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        insertionOfOne = try (0..<101).map { number in
            try nanoseconds {
                context.insert(Ticket(number: rows + number))
                try context.save()
            }
        }.percentile(0.5)
        var random = SystemRandomNumberGenerator()
        changeOfOne = try (0..<101).map { number in
            let ticket = try context.fetch(Self.one(Int.random(in: 0..<rows, using: &random))).first
            return try nanoseconds {
                ticket?.title = "changed \(number)"
                try context.save()
            }
        }.percentile(0.5)
        lookup = try (0..<2_001).map { _ in
            let number = Int.random(in: 0..<rows, using: &random)
            return try nanoseconds { _ = try context.fetch(Self.one(number)) }
        }.percentile(0.5)
    }
}
