/// A value that a lock protects.
///
/// The same as `Synchronization.Mutex`, except that the thread sanitizer can follow it: on Linux, `Mutex` passes
/// ownership to waiting threads in a way that the sanitizer does not see, and it would report every use as a race.
/// Copies share the value and the lock, which lie in one allocation: opening a store makes dozens of them.
///
/// Public, because Swift inlines members of `package` types only in their own module. No product exports the module.
public struct Guarded<Value> {
    @usableFromInline let storage: ManagedBuffer<Value, SystemLock>

    /// Makes a guarded value.
    @inlinable
    public init(_ value: Value) {
        storage = GuardedStorage<Value>.create(minimumCapacity: 1) { storage in
            storage.withUnsafeMutablePointerToElements { SystemLock.initialize($0) }
            return value
        }
    }

    /// Calls `body` with the value under the lock. Calls must not nest.
    @inlinable @inline(__always)
    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        let (value, lock) = storage.withUnsafeMutablePointers { ($0, $1) }
        // `body` may release the last other reference to the storage.
        defer { withExtendedLifetime(storage) {} }
        SystemLock.lock(lock)
        defer { SystemLock.unlock(lock) }
        return try body(&value.pointee)
    }

    /// Replaces a part of the value, and releases the old part after the lock: its `deinit` may use the value.
    @inlinable
    public func replace<Part>(_ part: WritableKeyPath<Value, Part>, with new: Part) {
        let old = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
        withExtendedLifetime(old) {}
    }
}

/// `@unchecked`: the reference to the storage is a constant. The value is written in the initializer, before another
/// thread has a copy, and otherwise accessed only between `lock` and `unlock`, which order the accesses of all threads.
/// ``Guarded/withLock(_:)`` returns only parts of the value, which is `Sendable`.
extension Guarded: @unchecked Sendable where Value: Sendable {}

/// The allocation of a guarded value and its lock.
@usableFromInline
final class GuardedStorage<Value>: ManagedBuffer<Value, SystemLock> {
    @inlinable
    deinit {
        withUnsafeMutablePointerToElements { SystemLock.deinitialize($0) }
    }
}
