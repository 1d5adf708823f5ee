import Foundation

/// The number of kills or failures of a test: the environment variable `KILL_COUNT`, which `Scripts/test --long` sets, or
/// the usual number.
package func killCount(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["KILL_COUNT"].flatMap { Int($0) } ?? usual
}
