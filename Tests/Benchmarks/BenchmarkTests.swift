import Foundation
import TestSupport
import Testing

/// Measures the budgets of the design; `Scripts/benchmark` runs them in a release build. The only assertion is that
/// both sides do the same work.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["BENCHMARK_ROWS"] != nil))
struct BenchmarkTests {
    private let environment = ProcessInfo.processInfo.environment

    @Test func `operations beside handwritten ones`() throws {
        let folder = TemporaryFolder()

        let bench = try Workbench(in: folder.url, rows: environment["BENCHMARK_ROWS"].flatMap(Int.init) ?? 100_000)
        try #require(bench.byHand.count() == bench.rows)
        let benchmarks = try [
            ChangeBenchmarks.all(bench),
            [RelationshipBenchmarks.deletion(bench)],
            FetchingBenchmarks.all(bench),
            RelationshipBenchmarks.all(bench),
            AggregateBenchmarks.all(bench),
            ShapeBenchmarks.all(bench),
            ManyToManyBenchmarks.all(bench),
            SmallBenchmarks.all(bench),
            ConditionBenchmarks.all(bench),
            OpeningBenchmarks.all(bench),
            LiveResultsBenchmarks.all(bench),
            HistoryBenchmarks.all(bench),
            MigrationBenchmarks.all(bench),
            LargeValueBenchmarks.all(bench),
        ]
        let filter = environment["BENCHMARK_FILTER"]
        var results: [Benchmark.Result] = []
        print(Benchmark.Result.header)
        for benchmark in benchmarks.joined() where filter.map(benchmark.operation.contains) ?? true {
            let result = try benchmark.measure()
            print(result.line)
            results.append(result)
        }
        let memory = try MemoryMeasurement(of: bench)
        print(memory.line)
        if let path = environment["BENCHMARK_JSON"] {
            try JSONEncoder().encode(results + [memory.result]).write(to: URL(filePath: path))
        }
    }
}
