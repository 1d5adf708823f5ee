import Foundation
public import ObjectGraph

/// A scratch pad of models: it fetches them, collects their changes and saves them.
///
/// ```swift
/// let context = ModelContext(container)
/// context.insert(Trip(name: "Kyoto"))
/// try context.save()
/// let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
/// ```
///
/// A context and its models belong to one thread or actor at a time. What another context of the container saves appears
/// with the next fetch or save.
public final class ModelContext {
    /// Whether the context saves by itself: soon after a change, as soon as its actor is free. It is true at first for a
    /// container's main context and false for all others.
    ///
    /// A context saves by itself on the actor whose code made it, on the executor of its model actor, or on the actor or
    /// queue that ``enableAutosave(on:)-(Actor)`` names. A context that has none of them, because it was made outside any
    /// actor, has no executor to save on: true has no effect until a model executor such as ``DefaultSerialModelExecutor``
    /// takes the context.
    ///
    /// A save happens when the actor runs no other code, which includes the points where the actor's methods suspend with
    /// `await`. A save that fails leaves the changes in the context. It is tried again after a further model is inserted,
    /// changed or deleted, and by the next explicit save.
    ///
    /// - Precondition: A context that is set to true stays with its actor: it is not sent to another one.
    public var autosaveEnabled = false {
        // Changes that were made before are saved as well.
        didSet { if autosaveEnabled, !oldValue { beginAutosaving() } }
    }
    /// The actor, executor or queue whose code uses the context, if it is known.
    var isolation: ContextIsolation?
    /// Who the context is to the stores that it asks; ``author`` is a part of it.
    public lazy var editingState = EditingState()
    /// Who makes the context's changes, as the history tells it.
    public var author: String? {
        get { editingState.author }
        set { editingState.author = newValue }
    }
    /// Whether a save waits for the context's actor.
    var isAutosaveScheduled = false
    /// Whether the failure of the last save by itself has been reported.
    var hasReportedAutosaveFailure = false

    @usableFromInline let graph: ManagedObjectContext
    // The context holds the stores, not the container: a container holds its main context.
    let stores: ModelContainer.Stores
    /// Whether there are stores of the program's own.
    @usableFromInline let hasDataStores: Bool
    private weak var knownContainer: ModelContainer?

    /// Makes a context without models.
    ///
    /// - Parameters:
    ///   - container: The container whose stores the context works on.
    ///   - isolation: The actor whose code uses the context; by default the one whose code makes it. See
    ///     ``autosaveEnabled``.
    public init(_ container: ModelContainer, isolation: (any Actor)? = #isolation) {
        stores = container.stores
        knownContainer = container
        graph = ManagedObjectContext(coordinator: stores.coordinator)
        hasDataStores = !stores.dataStores.isEmpty
        graph.owner = self
        // A collision of unique values becomes an update, and the later of two changes goes before the earlier one.
        graph.mergePolicy = .mergeByPropertyObjectTrump
        for store in stores.dataStores { store.initializeState(for: editingState) }
        self.isolation = isolation.map(ContextIsolation.init(actor:))
    }

    /// Makes a context without models that belongs to no actor.
    ///
    /// This is what `ModelContext.init` names without a call. A call takes the other initializer.
    @_disfavoredOverload
    public convenience init(_ container: ModelContainer) { self.init(container, isolation: nil) }

    deinit {
        for store in stores.dataStores { store.invalidateState(for: editingState) }
    }

    /// The container whose stores the context works on.
    public var container: ModelContainer {
        if let knownContainer { return knownContainer }
        let container = ModelContainer(stores)
        knownContainer = container
        return container
    }

    // MARK: State

    /// Whether there is anything to save.
    public var hasChanges: Bool { graph.hasChanges }

    /// The models that the next save inserts, in the order in which they were inserted.
    public var insertedModelsArray: [any PersistentModel] { Self.models(graph.insertedObjects) }

    /// The models that the next save updates.
    public var changedModelsArray: [any PersistentModel] { Self.models(graph.updatedObjects) }

    /// The models that the next save deletes.
    public var deletedModelsArray: [any PersistentModel] { Self.models(graph.deletedObjects) }

    private static func models(_ objects: [any GraphObject]) -> [any PersistentModel] {
        objects.compactMap { $0 as? any PersistentModel }
    }

    // MARK: Changes

    /// Adds a new model, together with those that it is related to. The next save writes them.
    ///
    /// - Precondition: The model is in no other context, and its class is in the container's schema.
    public func insert<T: PersistentModel>(_ model: T) { graph.insert(model) }

    /// Deletes a model with the next save, and carries the deletion on along the delete rules. A model that is in no context
    /// is left as it is.
    ///
    /// - Precondition: The model is in no other context.
    public func delete<T: PersistentModel>(_ model: T) { graph.delete(model) }

    /// Applies the delete rules of what was deleted, as a save does.
    public func processPendingChanges() { graph.processPendingChanges() }

    /// Writes all changes in one transaction: all of them or, when it throws, none.
    ///
    /// - Throws: `ObjectGraphError` for values that cannot be saved and for conflicts, and `ObjectGraphError.unreadable`, also
    ///   without changes, where values could not be read (see ``readFailures``); what the store throws.
    public func save() throws {
        if Self.areSavesObserved, graph.hasChanges { try saveObserved() } else { try graph.save() }
    }

    /// Drops all changes that have not been saved.
    public func rollback() { graph.rollback() }

    /// Runs `block` and saves. When `block` throws, nothing is saved, and its changes stay in the context.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    // MARK: Lookup

    /// The model with an identifier. Where the context does not know it, it is a placeholder that has the identifier and is
    /// filled when one of its properties is read. A model that does not exist turns out to be deleted then, and has no
    /// values.
    ///
    /// For an identifier of a class that the container's schema does not have, it is a deleted model of a class without
    /// properties.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        guard let id = persistentModelID.managedObjectID(in: graph.coordinator),
            let model = graph.object(with: id) as? any PersistentModel
        else { return UnknownModel._$placeholder(slotCount: 0) }
        return model
    }

    /// The model with an identifier, where the context knows it already; else nil, as for a model of another class.
    public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
        persistentModelID.managedObjectID(in: graph.coordinator).flatMap(graph.registeredObject) as? T
    }
}

extension ModelContext: Equatable {
    /// Whether both are the same context.
    public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }
}

@available(*, unavailable, message: "a context belongs to one actor: make one for each, or use @ModelActor")
extension ModelContext: Sendable {}
