import Foundation

/// One line with the progress of a task: a bar on a terminal, otherwise only the result.
///
/// ```
/// Packages      ████████████████████░░░░░░░░░░  41,000 of 63,440
/// ```
package struct ProgressBar {
    private let title: String
    private let total: Int
    private let width: Int?
    private let start = ContinuousClock.now
    private var lastShown = -1

    /// Begins a task.
    ///
    /// - Parameters:
    ///   - title: The name of the task, in up to 14 characters.
    ///   - total: The number of steps.
    package init(_ title: String, total: Int) {
        self.title = title.padded(to: 14)
        self.total = total
        width = Terminal.width
        show(0)
    }

    /// Shows the number of completed steps.
    package mutating func show(_ done: Int) {
        guard let width else { return }
        let percent = total == 0 ? 100 : done * 100 / total
        guard percent != lastShown else { return }
        lastShown = percent
        let total = total.grouped
        let numbers = "  \(done.grouped.padded(to: total.count, alignsRight: true)) of \(total)"
        // The last column stays empty: writing into it makes some terminals start a new line.
        let room = min(width - 1 - title.count - numbers.count, 40)
        let filled = max(room, 0) * percent / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: max(room, 0) - filled)
        Output.replaceLine(by: (title + bar + numbers).truncated(to: width - 1))
    }

    /// Ends the task and replaces the bar by the result.
    ///
    /// - Throws: ``OutputError``
    package func finish(_ result: String) throws {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let time = seconds < 10 ? String(format: "%.1f s", seconds) : String(format: "%.0f s", seconds)
        if width != nil { Output.replaceLine(by: "") }
        try Output.print("\(title)\(result) (\(time))")
        try Output.flush()
    }
}

extension Int {
    /// The number with commas between groups of three digits, in every locale.
    package var grouped: String {
        var digits = String(magnitude)
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: position))
            position -= 3
        }
        return self < 0 ? "-" + digits : digits
    }
}
