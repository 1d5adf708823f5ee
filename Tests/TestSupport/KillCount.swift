import Foundation

/// The number of kills or failures of a test: the environment variable `KILL_COUNT`, which `Scripts/test --long` sets, or
/// the usual number.
package func killCount(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["KILL_COUNT"].flatMap { Int($0) } ?? usual
}

/// The numbers of kills of a test's cases, each with a new store: the stores grow with each kill, and so does the time to
/// check them.
package func killCounts(_ usual: Int) -> [Int] {
    let count = killCount(usual)
    return stride(from: 0, to: count, by: 30).map { min(30, count - $0) }
}
