import CMeters
import Foundation

/// One operation, measured alternately with the package and with handwritten code on the C API.
struct Benchmark {
    let operation: String
    /// The largest ratio that the design allows.
    let budget: Double
    /// The number of rows that one run touches, for times per row.
    let rows: Int
    /// Runs before each side. It ends the read transactions that the package keeps for a moment: a short statement would
    /// profit from their file lock.
    var settle: () throws -> Void = {}
    /// Prepares and runs the package's side, and returns the nanoseconds of the measured part.
    let ours: () throws -> UInt64
    /// The same by hand.
    let baseline: () throws -> UInt64

    /// The number of turns, each with a ratio.
    static let turns = 7

    /// The nanoseconds for which a turn repeats a short operation: the speed of a machine varies by half from one
    /// millisecond to the next.
    private static let shortestTurn = 20_000_000.0
    /// The nanoseconds that the repetitions of a side may take in a turn, with all that is not measured.
    private static let longestTurn = 200_000_000.0

    /// Runs both sides alternately, after one run of each that is not measured. Both start with the heap in the same order:
    /// SQLite sorts lists of small blocks, which takes twice the time if the blocks lie in the order of the last sort.
    func measure() throws -> Result {
        let start = DispatchTime.now().uptimeNanoseconds
        let shortest = try run(baseline)
        let duration = Double(DispatchTime.now().uptimeNanoseconds - start)
        let repetitions = max(1, Int(min(Self.shortestTurn / shortest, Self.longestTurn / duration)))
        // Allocations and statements are counted in the run whose time is not measured.
        cmeters_arm(1)
        _ = try run(ours)
        cmeters_arm(0)
        let counts = cmeters_are_there() != 0 ? cmeters_last() : nil
        var ratios: [Double] = []
        var ourTimes: [Double] = []
        var baselineTimes: [Double] = []
        for _ in 0..<Self.turns {
            var (ourTime, baselineTime) = (0.0, 0.0)
            for _ in 0..<repetitions {
                baselineTime += try run(baseline)
                ourTime += try run(ours)
            }
            ratios.append(ourTime / baselineTime)
            ourTimes.append(ourTime / Double(repetitions))
            baselineTimes.append(baselineTime / Double(repetitions))
        }
        return Result(
            operation: operation,
            ratio: ratios.median,
            budget: budget,
            ours_ns_per_row: ourTimes.median / Double(rows),
            baseline_ns_per_row: baselineTimes.median / Double(rows),
            spread: (ratios.max() ?? 0) - (ratios.min() ?? 0),
            allocations_per_row: counts.map { Double($0.allocations) / Double(rows) },
            peak_bytes: counts.map { Int($0.peak_bytes) },
            statements: counts.map { Int($0.statements) }
        )
    }

    /// The nanoseconds of one run of a side.
    private func run(_ side: () throws -> UInt64) throws -> Double {
        try settle()
        cmeters_join_freed_blocks()
        return Double(try side())
    }

    /// The result of an operation; the names are those of the JSON output.
    struct Result: Codable {
        /// The name of the operation.
        let operation: String
        /// The median of the ratios of the turns.
        let ratio: Double
        let budget: Double
        /// Nil for results that are not times.
        let ours_ns_per_row: Double?
        let baseline_ns_per_row: Double?
        /// The largest ratio of a turn less the smallest.
        let spread: Double
        /// The number of allocations of the package's side; nil if unknown, like the next two.
        let allocations_per_row: Double?
        /// The peak memory of the package's side, above its start.
        let peak_bytes: Int?
        /// The number of statements of the package's side.
        let statements: Int?

        static let header =
            "operation                                   ratio  budget  spread  ours ns/row  by hand ns/row"
            + "  allocations/row   peak MB  statements"

        var line: String {
            let name = operation.padding(toLength: 42, withPad: " ", startingAt: 0)
            return name
                + String(
                    format: "%7.2f %7.2f %7.2f %12.0f %15.0f %16.2f %9.1f %11d",
                    ratio,
                    budget,
                    spread,
                    ours_ns_per_row ?? .nan,
                    baseline_ns_per_row ?? .nan,
                    allocations_per_row ?? .nan,
                    Double(peak_bytes ?? 0) / 1_000_000,
                    statements ?? 0
                )
        }
    }
}

/// The nanoseconds that `body` takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> UInt64 {
    cmeters_begin()
    defer { cmeters_end() }
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return DispatchTime.now().uptimeNanoseconds - start
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}
