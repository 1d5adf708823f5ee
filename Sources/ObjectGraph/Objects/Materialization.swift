#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The proof that an object is made by a graph and not by a program, and the row that it is made for.
public struct Materialization {
    /// The state that the object gets; alive for as long as the object's initializer runs.
    private let state: UnsafePointer<ObjectState>

    init(_ state: UnsafePointer<ObjectState>) {
        self.state = state
    }

    /// The row; one without values for an object that is in no store.
    ///
    /// For a fault it is fetched, since the object keeps some of its values as constants.
    public var row: Row {
        if let row = state.pointee.row { return row }
        guard state.pointee.key > 0, let handler = state.pointee.handler, let context = handler.context,
            let node = try? context.store(for: handler.entity).newValuesForObject(
                with: context.id(entity: handler.entity, key: state.pointee.key),
                with: context
            )
        else { return .empty }
        return node.row
    }

    /// The object of class `type` that a to-one relationship leads to.
    public func destination(at slot: Int) -> (any GraphObject)? {
        guard let handler = state.pointee.handler, let context = handler.context,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else { return nil }
        let key = row.slotCount > slot ? row.integer(at: slot) : 0
        guard key > 0 else { return nil }
        return context.object(with: context.id(entity: relationship.destination, key: key))
    }
}

/// Hands the state of a fetched object to the initializer of its class.
///
/// The first thing that any initializer of a model class does is to make the object's state. For a new object it
/// evaluates the properties' default values; for a fetched one it must not, since defaults such as `UUID()` cost more
/// than the whole object. The state's initial value cannot have an argument that tells the cases apart, so the graph
/// leaves the state in a place of the thread before it calls the initializer.
enum PendingState {
    /// What waits for an initializer of `type`; nothing where it is nil.
    struct Entry {
        var type: (any GraphObject.Type)?
        var state: ObjectState
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "the process has no thread-specific keys left")
        return key
    }()

    /// Calls `body` with a place for entries; the one in it waits for the first initializer of its type.
    static func with<R>(_ entry: inout Entry, _ body: (UnsafeMutablePointer<Entry>) throws -> R) rethrows -> R {
        let outer = pthread_getspecific(key)
        return try withUnsafeMutablePointer(to: &entry) { pointer in
            pthread_setspecific(key, pointer)
            defer { pthread_setspecific(key, outer) }
            return try body(pointer)
        }
    }

    /// A time without an entry for any initializer.
    struct Suspension {
        private let outer = pthread_getspecific(PendingState.key)

        init() { pthread_setspecific(PendingState.key, nil) }

        func end() { pthread_setspecific(PendingState.key, outer) }
    }

    /// Makes the object that an entry tells.
    @inline(__always)
    static func makeObject(_ type: any GraphObject.Type, _ entry: UnsafeMutablePointer<Entry>) -> any GraphObject {
        entry.pointee.type = type
        let state = UnsafeMutableRawPointer(entry) + MemoryLayout<Entry>.offset(of: \.state)!
        return type.init(
            _materializing: Materialization(UnsafePointer(state.assumingMemoryBound(to: ObjectState.self)))
        )
    }

    /// The state that waits for an initializer of `type` or of a class that inherits from it, or nil where the program
    /// itself makes an object. It is given once: a property's default value that makes another object of the type finds
    /// nothing any more.
    @inline(__always)
    static func take<C: GraphObject>(for type: C.Type) -> ObjectState? {
        guard let pointer = pthread_getspecific(key) else { return nil }
        let entry = pointer.assumingMemoryBound(to: Entry.self)
        guard let expected = entry.pointee.type, expected == type || expected is C.Type else { return nil }
        entry.pointee.type = nil
        return entry.pointee.state
    }
}

extension ObjectState {
    /// The state of the object that the graph is making right now, where it is of class `type`; nil where the program
    /// itself makes the object.
    public static func materializing(_ type: (some GraphObject).Type) -> ObjectState? {
        PendingState.take(for: type)
    }
}
