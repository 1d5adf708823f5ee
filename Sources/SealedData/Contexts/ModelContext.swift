import Foundation
public import ObjectGraph

/// A working set of models. It fetches models, tracks their changes and saves them.
///
/// ```swift
/// let context = ModelContext(container)
/// context.insert(Trip(name: "Kyoto"))
/// try context.save()
/// let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
/// ```
///
/// A context and its models belong to one thread or actor at a time. Changes saved by other contexts of the container
/// appear with the next fetch or save. A model with unsaved changes keeps its values until it is saved, which merges
/// the changes of the other contexts, or until its changes are rolled back.
public final class ModelContext {
    /// Whether the context autosaves: soon after a change, when its actor is free. The default is true for a
    /// container's main context and false for all other contexts.
    ///
    /// A context autosaves on the actor whose code created it, on the executor of its model actor, or on the actor or
    /// queue that ``enableAutosave(on:)-(Actor)`` specifies. A context that was created outside any actor has no
    /// executor for saves: the value true has no effect until a model executor such as ``DefaultSerialModelExecutor``
    /// adopts the context.
    ///
    /// An autosave happens when the actor runs no other code, which includes the points where the actor's methods
    /// suspend with `await`. If it fails, the changes stay in the context. The save is retried after a further model is
    /// inserted, changed or deleted, and by the next explicit save.
    ///
    /// - Precondition: A context with autosaving is not sent to another actor.
    public var autosaveEnabled = false {
        // Saves earlier changes, too.
        didSet { if autosaveEnabled, !oldValue { beginAutosaving() } }
    }
    /// The actor, executor or queue whose code uses the context, if it is known.
    var isolation: ContextIsolation?
    /// The identity of the context in requests to stores, including the ``author``.
    public var editingState: EditingState {
        get {
            if let knownEditingState { return knownEditingState }
            let state = EditingState()
            knownEditingState = state
            return state
        }
        set {
            knownEditingState = newValue
            graph.transactionAuthor = newValue.author
        }
    }
    private var knownEditingState: EditingState?
    /// The author of the context's changes, which the history records up to 1,024 bytes in UTF-8. Custom stores receive
    /// it with each request.
    public var author: String? {
        get { knownEditingState?.author }
        set { editingState.author = newValue }
    }
    /// Whether an autosave is enqueued.
    var isAutosaveScheduled = false
    /// The next processing of changes for live results.
    let scheduledProcessing = ScheduledProcessing()
    /// Whether the failure of the last autosave has been reported.
    var hasReportedAutosaveFailure = false

    @usableFromInline let graph: ManagedObjectContext
    // The context retains the stores, not the container, because a container retains its main context.
    let stores: ModelContainer.Stores
    /// Whether the container has custom stores.
    @usableFromInline let hasDataStores: Bool
    private weak var knownContainer: ModelContainer?

    /// Makes a context without models.
    ///
    /// - Parameters:
    ///   - container: The container whose stores the context uses.
    ///   - isolation: The actor whose code uses the context; by default the actor whose code makes it. See
    ///     ``autosaveEnabled``.
    public init(_ container: ModelContainer, isolation: (any Actor)? = #isolation) {
        stores = container.stores
        knownContainer = container
        graph = ManagedObjectContext(coordinator: stores.coordinator)
        hasDataStores = !stores.dataStores.isEmpty
        graph.owner = self
        // A conflict of unique values becomes an update, and the later of two changes takes precedence.
        graph.mergePolicy = .mergeByPropertyObjectTrump
        for store in stores.dataStores { store.initializeState(for: editingState) }
        self.isolation = isolation.map(ContextIsolation.init(actor:))
    }

    /// Creates a context without models that belongs to no actor.
    ///
    /// Overload resolution chooses this initializer for `ModelContext.init` without a call. A call chooses the other
    /// initializer.
    @_disfavoredOverload
    public convenience init(_ container: ModelContainer) { self.init(container, isolation: nil) }

    deinit {
        for store in stores.dataStores { store.invalidateState(for: editingState) }
    }

    /// The container whose stores the context uses.
    public var container: ModelContainer {
        if let knownContainer { return knownContainer }
        let container = ModelContainer(stores)
        knownContainer = container
        return container
    }

    // MARK: State

    /// Whether the context has unsaved changes.
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

    /// Adds a new model, together with its related models. The next save writes them.
    ///
    /// - Precondition: The model is in no other context, and its class is in the container's schema.
    public func insert<T: PersistentModel>(_ model: T) { graph.insert(model) }

    /// Deletes a model with the next save, and applies the delete rules. A model that is in no context stays unchanged.
    ///
    /// - Precondition: The model is in no other context.
    public func delete<T: PersistentModel>(_ model: T) { graph.delete(model) }

    /// Applies the delete rules of pending deletions, as a save does, merges changes that other contexts have saved,
    /// and updates live results.
    public func processPendingChanges() { graph.processPendingChanges() }

    /// Writes all changes in one transaction: all of them, or none if it throws.
    ///
    /// - Throws: `ObjectGraphError` for invalid values and for conflicts; `ObjectGraphError.unreadable`, also without
    ///   changes, if values could not be read (see ``readFailures``); errors of the store.
    public func save() throws {
        if Self.areSavesObserved, graph.hasChanges { try saveObserved() } else { try graph.save() }
        hasReportedAutosaveFailure = false
    }

    /// Discards all unsaved changes.
    public func rollback() { graph.rollback() }

    /// Runs `block` and saves. If `block` throws, nothing is saved, and its changes stay in the context.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    // MARK: Lookup

    /// Returns the model with an identifier. If the context has not registered it, the result is a fault with the
    /// identifier, which is filled on first access to a property. If the store has no such model, the fault then
    /// becomes a deleted model without values.
    ///
    /// For an identifier of a class that is not in the container's schema, the result is a deleted model of a class
    /// without properties.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        guard let id = persistentModelID.managedObjectID(in: graph.coordinator),
            let model = graph.object(with: id) as? any PersistentModel
        else { return UnknownModel._$placeholder(slotCount: 0) }
        return model
    }

    /// Returns the model with an identifier if the context has registered it and it is of class `T`; otherwise nil.
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
