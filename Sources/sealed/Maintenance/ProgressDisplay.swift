import Dispatch
import Foundation
import Terminal

/// Shows the progress of an operation on a terminal until it ends, and cancels it on an interrupt (Ctrl-C).
///
/// Elsewhere, for example in a log, only the result is printed, in one line.
struct ProgressDisplay {
    fileprivate static let pauseMicroseconds: UInt32 = 100_000

    /// Runs an operation.
    ///
    /// - Parameters:
    ///   - title: The name of the operation.
    ///   - result: The text that replaces the bar.
    static func run<Result>(
        _ title: String,
        _ body: (Progress) throws -> Result,
        result: (Result) -> String
    ) throws -> Result {
        let progress = Progress(totalUnitCount: 100)
        signal(SIGINT, SIG_IGN)
        let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        interrupt.setEventHandler { progress.cancel() }
        interrupt.resume()
        defer {
            interrupt.cancel()
            signal(SIGINT, SIG_DFL)
        }
        guard Terminal.isTerminal(.standardError) else {
            let value = try body(progress)
            Terminal.printError("\(title): \(result(value))")
            return value
        }
        let start = ContinuousClock.now
        let painter = Painter(title, progress)
        painter.start()
        defer { painter.stop() }
        let value = try body(progress)
        painter.stop()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        Terminal.printError("\(title): \(result(value)) (\(String(format: "%.1f", seconds)) s)")
        return value
    }

    /// A thread that paints the bar on standard error, so that the output can be redirected.
    ///
    /// `@unchecked Sendable`: the properties are constants; `isStopped` is used under its lock only.
    private final class Painter: @unchecked Sendable {
        private let title: String
        private let progress: Progress
        private let lock = NSLock()
        private var isStopped = false
        private let ended = DispatchSemaphore(value: 0)

        init(_ title: String, _ progress: Progress) {
            self.title = title
            self.progress = progress
        }

        func start() {
            Thread.detachNewThread { [self] in
                while !lock.withLock({ isStopped }) {
                    paint()
                    usleep(ProgressDisplay.pauseMicroseconds)
                }
                ended.signal()
            }
        }

        func stop() {
            let wasStopped = lock.withLock {
                defer { isStopped = true }
                return isStopped
            }
            guard !wasStopped else { return }
            ended.wait()
            write("\r\u{1B}[2K")
        }

        private func paint() {
            let filled = Int(progress.fractionCompleted * 30)
            let bar =
                String(repeating: "█", count: min(filled, 30)) + String(repeating: "░", count: max(0, 30 - filled))
            write("\r\(title) \(bar) \(Int(progress.fractionCompleted * 100)) %")
        }

        private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
    }
}
