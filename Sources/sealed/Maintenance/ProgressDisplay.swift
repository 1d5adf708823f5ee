import Dispatch
import Foundation
import Terminal

/// Shows the progress of an operation on a terminal until it ends, and cancels it on an interrupt (Ctrl-C), when the
/// terminal is closed, and when the system ends the process.
///
/// A cancelled operation removes what it has written. A signal that the program's parent ignores, as `nohup` does,
/// stays ignored.
///
/// Elsewhere, for example in a log, only the result is printed, in one line.
struct ProgressDisplay {
    /// The time between two paintings of the bar.
    fileprivate static let pause = DispatchTimeInterval.milliseconds(100)

    /// Runs an operation.
    ///
    /// - Parameters:
    ///   - title: The name of the operation.
    ///   - result: The text that replaces the bar.
    static func run<Value>(
        _ title: String,
        _ body: (Progress) throws -> Value,
        result: (Value) -> String
    ) throws -> Value {
        let progress = Progress(totalUnitCount: 100)
        let signals = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
        let sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { progress.cancel() }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in signals { signal(number, SIG_DFL) }
        }
        guard Terminal.isTerminal(.standardError) else {
            let value = try body(progress)
            ErrorOutput.print("\(title): \(result(value))")
            return value
        }
        let start = ContinuousClock.now
        let painter = Painter(title, progress)
        painter.start()
        let outcome = Result { try body(progress) }
        painter.stop()
        let value = try outcome.get()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        ErrorOutput.print("\(title): \(result(value)) (\(String(format: "%.1f", seconds)) s)")
        return value
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        // Handlers are pointers, and cannot be compared otherwise.
        let handler = signal(number, SIG_DFL)
        let ignoring = unsafeBitCast(SIG_IGN, to: Int.self)
        guard unsafeBitCast(handler, to: Int.self) == ignoring else { return false }
        signal(number, SIG_IGN)
        return true
    }

    /// A thread that paints the bar on standard error, so that the output can be redirected.
    private final class Painter: Sendable {
        private let title: String
        private let progress: Progress
        private let stopping = DispatchSemaphore(value: 0)
        private let stopped = DispatchSemaphore(value: 0)

        init(_ title: String, _ progress: Progress) {
            self.title = title
            self.progress = progress
        }

        func start() {
            Thread.detachNewThread { [self] in
                repeat { paint() } while stopping.wait(timeout: .now() + ProgressDisplay.pause) == .timedOut
                ErrorOutput.replaceLine(by: "")
                stopped.signal()
            }
        }

        /// Removes the bar, and ends the thread. Must be called once.
        func stop() {
            stopping.signal()
            stopped.wait()
        }

        private func paint() {
            let filled = Int(progress.fractionCompleted * 30)
            let bar =
                String(repeating: "█", count: min(filled, 30)) + String(repeating: "░", count: max(0, 30 - filled))
            ErrorOutput.replaceLine(by: "\(title) \(bar) \(Int(progress.fractionCompleted * 100)) %")
        }
    }
}
