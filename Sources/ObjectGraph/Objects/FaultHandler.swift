import Foundation

/// The shared part of the state of all objects of one entity in one context: their class, their identity table and
/// their context.
///
/// An object refers to its handler and the handler to the context, so that a context that is deallocated disconnects
/// its objects by clearing one reference for each entity. Related objects outside any context have a handler of a
/// ``DetachedGraph``.
@usableFromInline
final class FaultHandler {
    @usableFromInline let entity: Entity
    /// The ``Entity/relationships`` of ``entity``.
    let relationships: [Relationship]
    /// The ``Entity/rootIndex`` of ``entity``.
    let rootIndex: Int
    let objectType: any GraphObject.Type
    /// The ``GraphObject/_$stateClass`` of ``objectType``.
    let stateClass: ObjectIdentifier
    /// Whether the class may override the lifecycle methods of ``ManagedObject``.
    let hasLifecycle: Bool
    /// The context's objects of the entity and of all entities with the same root; empty outside a context.
    let table: ObjectTable
    /// Whether the context reads from a parent context.
    let readsFromParent: Bool
    /// The context; cleared when the context is deallocated, which makes the unretained reference safe.
    var context: ManagedObjectContext? {
        get { borrowedContext?.takeUnretainedValue() }
        set {
            borrowedContext = newValue.map(Unmanaged.passUnretained)
            if let newValue { readFailures = newValue.readFailures }
        }
    }
    @exclusivity(unchecked) private(set) var borrowedContext: Unmanaged<ManagedObjectContext>?
    /// The offset of the state in an object of the class, in bytes; -1 until the first object is seen.
    @exclusivity(unchecked) private var stateOffset = -1
    /// The last known identity of the store, for objects that outlive their context or its stores.
    private var lastStoreUUID: UUID?
    /// The graph to which objects outside any context belong.
    let detachedGraph: DetachedGraph?
    /// The failures of the context, which outlive it; nil if the objects never had a context.
    private(set) var readFailures: ReadFailures?

    init(
        entity: Entity,
        objectType: any GraphObject.Type,
        table: ObjectTable,
        readsFromParent: Bool = false,
        detachedGraph: DetachedGraph? = nil
    ) {
        self.entity = entity
        relationships = entity.relationships
        rootIndex = entity.rootIndex
        self.objectType = objectType
        stateClass = ObjectIdentifier(objectType._$stateClass)
        hasLifecycle = objectType is ManagedObject.Type && objectType != ManagedObject.self
        self.table = table
        self.readsFromParent = readsFromParent
        self.detachedGraph = detachedGraph
    }

    /// The identity of the store that holds the entity.
    var storeUUID: UUID? {
        if let uuid = context?.coordinator.storeUUID(for: entity) { lastStoreUUID = uuid }
        return lastStoreUUID
    }

    /// Returns a handler for objects that leave the context before it is deallocated.
    func detached() -> FaultHandler {
        let handler = FaultHandler(entity: entity, objectType: objectType, table: ObjectTable())
        handler.lastStoreUUID = storeUUID
        handler.readFailures = readFailures
        return handler
    }

    /// Disconnects the objects from their context, which is being deallocated.
    func detachFromContext() {
        _ = storeUUID
        context = nil
    }

    /// Creates an object with a state.
    func makeObject(_ state: ObjectState) -> any GraphObject {
        var entry = PendingState.Entry(stateClass: nil, state: state)
        return PendingState.with(&entry) { PendingState.makeObject(objectType, stateClass: stateClass, $0) }
    }

    /// The state of an object of the entity's class.
    @inline(__always)
    func state(of object: Unmanaged<AnyObject>) -> UnsafeMutablePointer<ObjectState> {
        if stateOffset < 0 { stateOffset = findStateOffset(in: object.takeUnretainedValue()) }
        return (object.toOpaque() + stateOffset).assumingMemoryBound(to: ObjectState.self)
    }

    /// A stored property has the same offset in all objects of a class and of its subclasses.
    private func findStateOffset(in object: AnyObject) -> Int {
        UnsafeMutableRawPointer(graphObject(object).state) - Unmanaged.passUnretained(object).toOpaque()
    }

    /// Casts a reference to an object of the entity's class.
    @inline(__always)
    func graphObject(_ object: AnyObject) -> any GraphObject {
        Self.cast(object, to: objectType)
    }

    @inline(__always)
    private static func cast<T: GraphObject>(_ object: AnyObject, to type: T.Type) -> any GraphObject {
        unsafeDowncast(object, to: T.self)
    }
}
