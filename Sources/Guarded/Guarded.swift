public import Foundation

/// A value that one thread at a time can use.
///
/// The same as `Synchronization.Mutex`, except that the thread sanitizer can follow it: on Linux, `Mutex` hands over to
/// waiting threads out of its sight, and every use of such a value would be reported as a race.
///
/// Public, since Swift inlines the members of `package` types in their own module only; no product exports the module.
public final class Guarded<Value>: @unchecked Sendable {
    // Sound because `value` is only touched between `lock` and `unlock`, and because no caller lets a reference out of it that
    // is not `Sendable` itself.

    @usableFromInline let lock = NSLock()
    @usableFromInline var value: Value

    /// Makes it with a first value.
    @inlinable
    public init(_ value: Value) {
        self.value = value
    }

    /// Calls `body` with the value while no other thread has it. Calls must not nest.
    @inlinable
    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
