import Foundation
import SealedData
import Testing

/// Saves of many objects.
enum ChangeBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        [
            Benchmark(
                operation: "insert and save",
                budget: 1.3,
                rows: bench.rows,
                ours: {
                    try bench.withNewFile { file in
                        let container = try bench.open(file)
                        return try nanoseconds {
                            let context = ModelContext(container)
                            for number in 0..<bench.rows { context.insert(Item(number: number)) }
                            try context.save()
                        }
                    }
                },
                baseline: {
                    try bench.withNewFile { file in
                        let database = try HandWrittenDatabase(file, .raw(bench.key), creates: true)
                        return try nanoseconds { try database.insert(bench.rows) }
                    }
                }
            ),
            Benchmark(
                operation: "change one property of all and save",
                budget: 1.5,
                rows: bench.rows,
                ours: {
                    let context = ModelContext(bench.container)
                    return try nanoseconds {
                        for item in try context.fetch(FetchDescriptor<Item>()) { item.isMarked.toggle() }
                        try context.save()
                    }
                },
                baseline: { try nanoseconds { try bench.byHand.toggleAll() } }
            ),
        ]
    }
}
