import Guarded

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Reports problems that no call can throw and no handler of a context receives: mistakes of a program that would
/// otherwise remain unnoticed.
///
/// ```swift
/// RuntimeIssues.handler = { logger.fault("\($0)") }
/// ```
///
/// A message names entity and property, never a stored value.
public enum RuntimeIssues {
    private static let current = Guarded<@Sendable (String) -> Void>(writeToStandardError)

    /// Called with each message, on any thread. The initial handler writes a line to standard error.
    public static var handler: @Sendable (String) -> Void {
        get { current.withLock { $0 } }
        set { current.replace(\.self, with: newValue) }
    }

    /// Writes a message to standard error, as the initial ``handler`` does.
    public static func writeToStandardError(_ message: String) {
        // By one system call, so that messages of several threads do not mix.
        let line = Array("SealedData: \(message)\n".utf8)
        line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    package static func report(_ message: String) { handler(message) }
}
