import Foundation
import SealedData
import TestSupport
import Testing

/// The numbers of rows to measure with; nil where that is not asked for.
private let rowCounts = ProcessInfo.processInfo.environment["BENCHMARK_SCALE"]?
    .split(separator: ",").compactMap { Int($0) }

/// What stays the same as files grow, and what readers and writers cost each other: `Scripts/benchmark --scale`.
@Suite(.serialized, .enabled(if: rowCounts != nil))
struct ScaleTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = TemporaryFolder()
        try body(folder.url)
    }

    @Test func `time and memory for each row as files grow`() throws {
        print(GrowthMeasurement.header)
        for count in rowCounts ?? [] {
            try withFolder { print(try GrowthMeasurement(rows: count, in: $0).line) }
        }
    }

    @Test func `a relationship with very many members`() throws {
        try withFolder { folder in
            for line in try MemberMeasurement(members: rowCounts?.first ?? 0, in: folder).lines { print(line) }
        }
    }

    @Test func `wide entities and many of them`() throws {
        try withFolder { folder in
            for line in try ModelMeasurement(in: folder).lines { print(line) }
        }
    }

    @Test func `readers beside a writer that never rests`() throws {
        try withFolder { folder in
            for line in try ConcurrencyMeasurement(rows: 100_000, in: folder).lines { print(line) }
        }
    }
}

extension [UInt64] {
    /// The value below which a part of all values is.
    func percentile(_ part: Double) -> Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))])
    }
}
