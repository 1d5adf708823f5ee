import Foundation
import SealedData
import Testing

/// Opening a file, up to the first number that is read from it.
enum OpeningBenchmarks {
    static func all(_ bench: Workbench) throws -> [Benchmark] {
        let passphrase = "correct horse battery staple"
        let file = bench.folder.appending(path: "passphrase.store")
        let context = try ModelContext(Workbench.open(file, .passphrase(passphrase)))
        context.insert(Item(number: 0))
        try context.save()
        return try [
            opening("open with a raw key", 1.5, bench.file, .raw(bench.key), .raw(bench.key)),
            opening("open with a passphrase", 1.05, file, .passphrase(passphrase), .passphrase(passphrase)),
        ]
    }

    private static func opening(
        _ operation: String,
        _ budget: Double,
        _ file: URL,
        _ key: EncryptionKey,
        _ keyByHand: HandWrittenDatabase.Key
    ) -> Benchmark {
        var descriptor = FetchDescriptor<Item>()
        descriptor.fetchLimit = 1
        let one = descriptor
        return Benchmark(
            operation: operation,
            budget: budget,
            rows: 1,
            ours: {
                var count = 0
                let time = try nanoseconds {
                    let container = try Workbench.open(file, key)
                    count = try ModelContext(container).fetchCount(one)
                }
                try #require(count == 1)
                return time
            },
            baseline: {
                var hasItems = false
                let time = try nanoseconds {
                    let database = try HandWrittenDatabase(file, keyByHand, creates: false)
                    hasItems = try database.hasItems()
                }
                try #require(hasItems)
                return time
            }
        )
    }
}
