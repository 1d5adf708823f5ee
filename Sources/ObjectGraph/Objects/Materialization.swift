#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The argument of the initializer by which a graph, not a program, creates an object: the object's state.
public struct Materialization {
    /// The entry with the object's state; valid while the object's initializer runs.
    let entry: UnsafeMutablePointer<PendingState.Entry>
    /// Whether the object is new: see ``BlankObject``.
    private let isBlank: Bool

    init(_ entry: UnsafeMutablePointer<PendingState.Entry>, isBlank: Bool = false) {
        self.entry = entry
        self.isBlank = isBlank
    }

    /// Returns the argument for the initializer of the superclass, which takes the state that ``AddedValues`` claimed.
    public func passed(to superclass: AnyClass) -> Materialization {
        if !isBlank { entry.pointee.stateClass = ObjectIdentifier(superclass) }
        return self
    }

    /// Checks that the object has taken this state. For code that is checked for strict memory safety, the function is
    /// safe: generated code passes the address of an object that exists.
    @safe
    public func verify(_ state: UnsafeMutablePointer<ObjectState>) {
        precondition(
            isBlank || (entry.pointee.stateClass == nil && state.pointee.key == entry.pointee.state.key),
            "an initial value of a property makes an object of the superclass: move it into an initializer of the class"
        )
    }

    /// The class of the object; nil for an object in no graph.
    package var objectType: (any GraphObject.Type)? { entry.pointee.state.handler?.objectType }
}

/// Passes the state of a fetched object to the initializer of its class.
///
/// Each initializer of a model class creates the object's state first. For a new object it evaluates the properties'
/// default values; for a fetched object it must not, since defaults such as `UUID()` cost more than the whole object.
/// The initial value of the state cannot have an argument that distinguishes the cases, so the graph stores the state
/// in a thread-local variable before it calls the initializer.
///
/// Initial values of a subclass are evaluated before the initializer of its superclass, and may create objects of the
/// superclass. So the state is reserved for one class at a time: a subclass claims it, and passes it on directly before
/// it calls the initializer of the superclass.
enum PendingState {
    /// The state that is reserved for an initializer of the class ``stateClass``; for no initializer if it is nil.
    struct Entry {
        var stateClass: ObjectIdentifier?
        var state: ObjectState
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "the process has no thread-specific keys left")
        return key
    }()

    /// Calls `body` with a pointer to the thread's entry, whose state the first initializer of its class takes.
    static func with<R>(_ entry: inout Entry, _ body: (UnsafeMutablePointer<Entry>) throws -> R) rethrows -> R {
        let outer = pthread_getspecific(key)
        return try withUnsafeMutablePointer(to: &entry) { pointer in
            pthread_setspecific(key, pointer)
            defer { pthread_setspecific(key, outer) }
            return try body(pointer)
        }
    }

    /// A period in which no initializer takes a state.
    struct Suspension {
        private let outer = pthread_getspecific(PendingState.key)

        init() { pthread_setspecific(PendingState.key, nil) }

        func end() { pthread_setspecific(PendingState.key, outer) }
    }

    /// Creates the object of an entry.
    ///
    /// - Parameter stateClass: the ``GraphObject/_$stateClass`` of the type.
    @inline(__always)
    static func makeObject(
        _ type: any GraphObject.Type,
        stateClass: ObjectIdentifier,
        _ entry: UnsafeMutablePointer<Entry>
    ) -> any GraphObject {
        entry.pointee.stateClass = stateClass
        return type.init(_materializing: Materialization(entry))
    }

    /// Returns the state that is reserved for an initializer of `type`; nil if the program itself creates an object. It
    /// returns a state once: a default value that creates another object of the type gets nil.
    @inline(__always)
    static func take(for type: AnyClass) -> ObjectState? {
        guard let entry = entry(for: type) else { return nil }
        entry.pointee.stateClass = nil
        return entry.pointee.state
    }

    /// Records that the initializer of a subclass is running, if a state is reserved for it.
    ///
    /// - Parameter superclass: The class whose initializer takes the state; nil for no class.
    /// - Returns: false if the program itself creates an object.
    static func claim(for type: AnyClass, superclass: AnyClass?) -> Bool {
        guard let entry = entry(for: type) else { return false }
        entry.pointee.stateClass = superclass.map { ObjectIdentifier($0) }
        return true
    }

    @inline(__always)
    private static func entry(for type: AnyClass) -> UnsafeMutablePointer<Entry>? {
        guard let entry = pthread_getspecific(key)?.assumingMemoryBound(to: Entry.self),
            entry.pointee.stateClass == ObjectIdentifier(type)
        else { return nil }
        return entry
    }
}

extension ObjectState {
    /// The state of the object of class `type` that the graph is creating; nil if the program itself creates the
    /// object.
    public static func materializing(_ type: AnyClass) -> ObjectState? {
        PendingState.take(for: type)
    }
}
