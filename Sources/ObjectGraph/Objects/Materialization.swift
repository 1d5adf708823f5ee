#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The proof that an object is made by a graph and not by a program, and the values that it is made for.
public struct Materialization {
    /// The entry with the state that the object gets; alive for as long as the object's initializer runs.
    private let entry: UnsafeMutablePointer<PendingState.Entry>
    /// Whether the object is a new one after all: see ``BlankObject``.
    private let isBlank: Bool

    init(_ entry: UnsafeMutablePointer<PendingState.Entry>, isBlank: Bool = false) {
        self.entry = entry
        self.isBlank = isBlank
    }

    /// The same for the initializer of the superclass: the state that ``AddedValues`` claimed waits for that one now.
    public func passed(to superclass: AnyClass) -> Materialization {
        if !isBlank { entry.pointee.stateClass = ObjectIdentifier(superclass) }
        return self
    }

    /// Checks that the object has got its state, and no other one.
    public func verify(_ state: UnsafeMutablePointer<ObjectState>) {
        precondition(
            isBlank || (entry.pointee.stateClass == nil && state.pointee.key == entry.pointee.state.key),
            "an initial value of a property makes an object of the superclass: move it into an initializer of the class"
        )
    }

    /// The value of an attribute, or nil where it has none.
    public func attribute<V: StorableValue>(at slot: Int) -> V? {
        if let changed = changed(at: slot) {
            guard case .value(let value) = changed else { return nil }
            return V(storedValue: value)
        }
        let row = row(telling: slot)
        return slot < row.slotCount && !row.isNull(at: slot) ? V.read(row, slot) : nil
    }

    /// The value of an attribute that is kept as JSON text: as it was set, or its text. Both are nil where there is none.
    public func composite(at slot: Int) -> (value: (any CompositeValue)?, text: String?) {
        if case .composite(let value) = changed(at: slot) { return (value, nil) }
        return (nil, attribute(at: slot))
    }

    /// What the object holds beyond its row.
    private func changed(at slot: Int) -> SlotValue? {
        guard let changes = entry.pointee.state.changes, slot < changes.slotCount, !changes[slot].isUnset else {
            return nil
        }
        return changes[slot]
    }

    /// A row that tells the value in a slot; one without values for an object that is in no store.
    ///
    /// For a fault it is fetched, where it is not at hand, since the object keeps some of its values as constants.
    private func row(telling slot: Int) -> Row {
        if let row = entry.pointee.state.row { return row }
        if let cached = entry.pointee.state.changes?.cachedRow?.row, cached.tells(slot) { return cached }
        guard entry.pointee.state.key > 0, let handler = entry.pointee.state.handler, let context = handler.context,
            let node = context.reading(
                handler.entity,
                key: entry.pointee.state.key,
                slot: slot,
                {
                    try context.store(for: handler.entity).newValuesForObject(
                        with: context.id(entity: handler.entity, key: entry.pointee.state.key),
                        with: context
                    )
                }
            )
        else { return .empty }
        return node?.row ?? .empty
    }

    /// The class of the object; nil for one that is in no graph.
    package var objectType: (any GraphObject.Type)? { entry.pointee.state.handler?.objectType }

    /// Reports that what the object has in a slot is not a value of the property's type. That a required value is missing
    /// was reported when the row was read.
    package func reportUnreadableValue(at slot: Int, as type: Any.Type) {
        guard let handler = entry.pointee.state.handler else { return }
        let row = row(telling: slot)
        guard changed(at: slot) != nil || slot < row.slotCount && !row.isNull(at: slot) else { return }
        handler.readFailures?.add(
            .init(
                entityIndex: handler.entity.index,
                key: entry.pointee.state.key,
                slot: slot,
                cause: ReadFailures.UndecodableValue(type)
            )
        )
    }

    /// The object of class `type` that a to-one relationship leads to.
    public func destination(at slot: Int) -> (any GraphObject)? {
        guard let handler = entry.pointee.state.handler,
            case .relationship(let relationship) = handler.entity.properties[slot],
            let key: Int64 = attribute(at: slot), key != 0
        else { return nil }
        if let island = handler.island { return island.object(forKey: key) }
        guard let context = handler.context else { return nil }
        return context.object(with: context.id(entity: relationship.destination, key: key))
    }
}

/// Hands the state of a fetched object to the initializer of its class.
///
/// The first thing that any initializer of a model class does is to make the object's state. For a new object it
/// evaluates the properties' default values; for a fetched one it must not, since defaults such as `UUID()` cost more
/// than the whole object. The state's initial value cannot have an argument that tells the cases apart, so the graph
/// leaves the state in a place of the thread before it calls the initializer.
///
/// Initial values of a subclass run before the initializer of its superclass, and may make objects of that one. So the
/// state waits for one class at a time: a subclass claims it, and passes it on just before it calls the superclass.
enum PendingState {
    /// What waits for an initializer of the class ``stateClass``; nothing where it is nil.
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

    /// The state that waits for an initializer of `type`, or nil where the program itself makes an object. It is given
    /// once: a property's default value that makes another object of the type finds nothing any more.
    @inline(__always)
    static func take(for type: AnyClass) -> ObjectState? {
        guard let entry = entry(for: type) else { return nil }
        entry.pointee.stateClass = nil
        return entry.pointee.state
    }

    /// Takes note that the initializer of a subclass is running for which a state waits.
    ///
    /// - Parameter superclass: Whose initializer the state waits for now; nobody's where it is nil.
    /// - Returns: false where the program itself makes an object.
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
    /// The state of the object that the graph is making right now, where it is of class `type`; nil where the program
    /// itself makes the object.
    public static func materializing(_ type: AnyClass) -> ObjectState? {
        PendingState.take(for: type)
    }
}
