import CMeters
import Foundation

/// One operation, done by us and by hand on the C API, in turns, each several times.
struct Benchmark {
    let operation: String
    /// The largest ratio that the design allows.
    let budget: Double
    /// How many rows one run touches, for times per row.
    let rows: Int
    /// Whether there is a pause between the sides: where statements are short, one would profit from the lock on the file
    /// that the other leaves behind for a moment.
    var settles = false
    /// Prepares and runs ours, and returns the nanoseconds of the part that counts.
    let ours: () throws -> UInt64
    /// The same by hand.
    let baseline: () throws -> UInt64

    /// How often each side runs.
    static let runs = 7
    /// The microseconds between two runs.
    private static let pause: UInt32 = 60_000

    /// Runs both sides in turns, after one turn that does not count. Both find the heap in the same order: SQLite sorts
    /// lists of small blocks, which take twice the time where they lie as the last sort has left them.
    func measure() throws -> Result {
        var ratios: [Double] = []
        var ourTimes: [Double] = []
        var baselineTimes: [Double] = []
        var counts: cmeters_counts?
        for run in 0...Self.runs {
            if settles { usleep(Self.pause) }
            cmeters_join_freed_blocks()
            let baselineTime = Double(try baseline())
            if settles { usleep(Self.pause) }
            cmeters_join_freed_blocks()
            // The turn whose time does not count is the one to count the rest in.
            cmeters_arm(run == 0 ? 1 : 0)
            let ourTime = Double(try ours())
            cmeters_arm(0)
            guard run > 0 else {
                if cmeters_are_there() != 0 { counts = cmeters_last() }
                continue
            }
            ratios.append(ourTime / baselineTime)
            ourTimes.append(ourTime)
            baselineTimes.append(baselineTime)
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

    /// What is known of an operation afterwards; the names are those of the JSON output.
    struct Result: Codable {
        /// What was measured.
        let operation: String
        /// The median of the runs' ratios.
        let ratio: Double
        let budget: Double
        /// Nil for what is no time.
        let ours_ns_per_row: Double?
        let baseline_ns_per_row: Double?
        /// The largest ratio of a run less the smallest.
        let spread: Double
        /// How often ours allocated memory; nil where nobody knows, like the next ones.
        let allocations_per_row: Double?
        /// The most memory that ours had at any time, beyond what it began with.
        let peak_bytes: Int?
        /// How many statements ours ran.
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
