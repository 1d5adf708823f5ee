public import Foundation

/// A value that a lock protects.
///
/// The same as `Synchronization.Mutex`, except that the thread sanitizer can follow it: on Linux, `Mutex` passes
/// ownership to waiting threads in a way that the sanitizer does not see, and it would report every use as a race.
///
/// Public, because Swift inlines members of `package` types only in their own module. No product exports the module.
///
/// `@unchecked Sendable`: `value` is written in the initializer and otherwise accessed only between `lock` and
/// `unlock`, which order the accesses of all threads. Callers neither keep nor pass on a reference out of a value that
/// is not `Sendable`.
public final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline let lock = NSLock()
    @usableFromInline var value: Value

    /// Makes a guarded value.
    @inlinable
    public init(_ value: Value) {
        self.value = value
    }

    /// Calls `body` with the value under the lock. Calls must not nest.
    @inlinable
    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
