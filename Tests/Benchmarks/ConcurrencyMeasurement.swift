import Foundation
import SealedData
import Synchronization

/// Small fetches of several threads, alone and beside a steady import.
struct ConcurrencyMeasurement {
    private(set) var lines: [String] = []

    private let container: ModelContainer
    private let rows: Int

    init(rows: Int, in folder: URL) throws {
        self.rows = rows
        container = try ModelContainer(
            for: Ticket.self,
            Item.self,
            configurations: ModelConfiguration(
                url: folder.appending(path: "shared.store"),
                key: .raw(Array(repeating: 7, count: 32))
            )
        )
        let context = ModelContext(container)
        for number in 0..<rows { context.insert(Ticket(number: number)) }
        try context.save()

        for readers in [1, 2] {
            report("\(readers) readers, no writer", read(readers: readers))
        }
        for readers in [1, 2] {
            let writer = Import(into: container)
            report("\(readers) reading beside an import", read(readers: readers))
            let imported = writer.end()
            lines[lines.count - 1] += String(format: ", %.0f rows/s written", imported)
        }
    }

    private mutating func report(_ name: String, _ reading: (times: [UInt64], seconds: Double)) {
        lines.append(
            String(
                format: "%@: p50 %.1f µs, p99 %.1f µs, %.0f fetches/s",
                name.padding(toLength: 30, withPad: " ", startingAt: 0),
                reading.times.percentile(0.5) / 1e3,
                reading.times.percentile(0.99) / 1e3,
                Double(reading.times.count) / reading.seconds
            )
        )
    }

    /// Looks tickets up on several threads at once, for two seconds.
    private func read(readers: Int) -> (times: [UInt64], seconds: Double) {
        let all = Mutex<[UInt64]>([])
        let (container, rows) = (container, rows)
        let start = DispatchTime.now().uptimeNanoseconds
        DispatchQueue.concurrentPerform(iterations: readers) { _ in
            let context = ModelContext(container)
            var times: [UInt64] = []
            while DispatchTime.now().uptimeNanoseconds - start < 2_000_000_000 {
                let number = Int.random(in: 0..<rows)
                let descriptor = FetchDescriptor<Ticket>(predicate: #Predicate { $0.number == number })
                times.append(nanoseconds { _ = try? context.fetch(descriptor) })
            }
            all.withLock { $0 += times }
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        return (all.withLock { $0 }, seconds)
    }
}

/// A thread that inserts and saves a thousand items at a time until it is stopped.
private final class Import: Sendable {
    private let isEnding = Atomic(false)
    private let count = Atomic(0)
    private let isDone = DispatchSemaphore(value: 0)
    private let start = DispatchTime.now().uptimeNanoseconds

    init(into container: ModelContainer) {
        Thread.detachNewThread { [self] in
            while !isEnding.load(ordering: .relaxed) {
                let context = ModelContext(container)
                for number in 0..<1_000 { context.insert(Item(number: number)) }
                guard (try? context.save()) != nil else { break }
                count.add(1_000, ordering: .relaxed)
            }
            isDone.signal()
        }
    }

    /// Ends the import, and returns the number of rows that it wrote in a second.
    func end() -> Double {
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        let rows = Double(count.load(ordering: .relaxed))
        isEnding.store(true, ordering: .relaxed)
        isDone.wait()
        return rows / seconds
    }
}
