#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Android)
    public import Android
#endif

/// The system's lock that is smallest and fastest without contention. Waiting threads sleep.
///
/// It is used through a pointer, since its address must not change.
@usableFromInline
struct SystemLock {
    #if canImport(Darwin)
        @usableFromInline typealias Content = os_unfair_lock
    #else
        @usableFromInline typealias Content = pthread_mutex_t
    #endif

    @usableFromInline var content: Content

    @inlinable
    init(content: Content) { self.content = content }

    /// Makes an unlocked lock in memory that holds no lock.
    @inlinable
    static func initialize(_ lock: UnsafeMutablePointer<SystemLock>) {
        lock.initialize(to: SystemLock(content: Content()))
        #if !canImport(Darwin)
            let code = pthread_mutex_init(&lock.pointee.content, nil)
            precondition(code == 0, "The system cannot make a lock: error \(code).")
        #endif
    }

    /// Releases the resources of a lock that no thread holds.
    @inlinable
    static func deinitialize(_ lock: UnsafeMutablePointer<SystemLock>) {
        #if !canImport(Darwin)
            pthread_mutex_destroy(&lock.pointee.content)
        #endif
        lock.deinitialize(count: 1)
    }

    @inlinable
    static func lock(_ lock: UnsafeMutablePointer<SystemLock>) {
        #if canImport(Darwin)
            os_unfair_lock_lock(&lock.pointee.content)
        #else
            pthread_mutex_lock(&lock.pointee.content)
        #endif
    }

    @inlinable
    static func unlock(_ lock: UnsafeMutablePointer<SystemLock>) {
        #if canImport(Darwin)
            os_unfair_lock_unlock(&lock.pointee.content)
        #else
            pthread_mutex_unlock(&lock.pointee.content)
        #endif
    }
}
