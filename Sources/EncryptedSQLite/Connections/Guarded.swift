import Foundation

/// A value that one thread at a time can use.
///
/// The same as `Synchronization.Mutex`, except that the thread sanitizer can follow it: on Linux, `Mutex` hands over to
/// waiting threads out of its sight, and every use of such a value would be reported as a race.
///
/// `@unchecked Sendable`: `value` is only touched between `lock` and `unlock`.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// Calls `body` with the value while no other thread has it. Calls must not nest.
    func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
