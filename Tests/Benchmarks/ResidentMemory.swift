import Foundation

/// The resident memory of the process, mapped files included.
enum ResidentMemory {
    /// In bytes; 0 if the system has no `/proc/self/status`.
    static var bytes: Int { value(of: "VmRSS:") }

    /// The largest value of ``bytes`` since the last call of ``resetPeak()``.
    static var peak: Int { value(of: "VmHWM:") }

    static func resetPeak() { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }

    private static func value(of name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
    }
}
