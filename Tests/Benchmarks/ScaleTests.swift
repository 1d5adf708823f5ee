import Foundation
import SealedData
import TestSupport
import Testing

/// The numbers of rows to measure; nil if the measurement is not requested.
private let rowCounts = ProcessInfo.processInfo.environment["BENCHMARK_SCALE"]?
    .split(separator: ",").compactMap { Int($0) }

/// The growth of times with the file, and the interference of readers and writers: `Scripts/benchmark --scale`.
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

    @Test func `time and memory of a migration`() throws {
        print(MigrationMeasurement.header)
        for count in rowCounts ?? [] {
            try withFolder { print(try MigrationMeasurement(rows: count, in: $0).line) }
        }
    }

    @Test func `a relationship with very many members`() throws {
        try withFolder { folder in
            for line in try MemberMeasurement(members: rowCounts?.first ?? 0, in: folder).lines { print(line) }
        }
    }

    @Test func `many entities and wide entities`() throws {
        try withFolder { folder in
            for line in try ModelMeasurement(in: folder).lines { print(line) }
        }
    }

    @Test func `delivery of commits to another process`() throws {
        try withFolder { folder in
            for line in try DeliveryMeasurement(commits: 1000, in: folder).lines { print(line) }
        }
    }

    @Test func `readers beside a steady writer`() throws {
        try withFolder { folder in
            for line in try ConcurrencyMeasurement(rows: 100_000, in: folder).lines { print(line) }
        }
    }
}

extension [UInt64] {
    /// The value below which a fraction of all values lies.
    func percentile(_ part: Double) -> Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))])
    }
}
