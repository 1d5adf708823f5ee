import Dispatch
import Foundation
import Journal
import ObjectGraph
import Synchronization

/// The time from a commit of another process to the update of live results in this one.
struct DeliveryMeasurement {
    private(set) var lines: [String] = []

    /// - Parameter commits: The number of commits, each after the delivery of the previous one.
    init(commits: Int, in folder: URL) throws {
        let url = folder.appending(path: "books.store")
        let context = try Bookcase.open(url)
        Bookcase.insertShelf("art", in: context)
        try context.save()
        let book = context.model.entitiesByName["Book"]!
        let request = FetchRequest(book, sort: [QuerySort(.path(book.propertiesByName["title"]!))])
        let signal = DispatchSemaphore(value: 0)
        context.onRemoteChange = { signal.signal() }
        let results = LiveResults(
            LiveResults.Query(request) { [unowned context] in try context.fetch(request, as: ManagedObject.self) },
            in: context
        )
        let writer = try Writer(url)
        var times: [UInt64] = []
        for number in 0..<commits {
            writer.insert(number)
            while results.entries.count <= number {
                signal.wait()
                context.processPendingChanges()
            }
            let delivery = DispatchTime.now().uptimeNanoseconds
            // The delivery can precede the writer's look at the clock.
            if let commit = writer.receiveTime() { times.append(delivery > commit ? delivery - commit : 0) }
        }
        lines.append(
            String(
                format: "commit to delivery in another process: p50 %.2f ms, p99 %.2f ms",
                times.percentile(0.5) / 1e6,
                times.percentile(0.99) / 1e6
            )
        )
    }

    /// The writing process.
    private final class Writer {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ store: URL) throws {
            process.executableURL = URL(filePath: CommandLine.arguments[0])
                .deletingLastPathComponent().appending(path: "journal-writer")
            process.arguments = [store.path, "commands"]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            _ = receiveLine()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        func insert(_ number: Int) {
            input.fileHandleForWriting.write(Data("timed \(number)\n".utf8))
        }

        func receiveTime() -> UInt64? { UInt64(receiveLine()) }

        private func receiveLine() -> String {
            var line: [UInt8] = []
            while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
                line.append(byte)
            }
            return String(decoding: line, as: UTF8.self)
        }
    }
}
