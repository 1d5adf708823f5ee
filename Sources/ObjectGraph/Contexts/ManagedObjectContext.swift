public import Foundation

/// A collection of objects that are fetched, changed and saved together. It has one object for each row in use.
///
/// A context and its objects belong to one thread, actor or queue at a time; they are not `Sendable`. Pass identifiers
/// between contexts. The changes that a context saves are merged into the coordinator's other contexts with their next
/// fetch or save.
///
/// The context is the interface of parts with one task each:
///
/// | part | task |
/// |---|---|
/// | `IdentityMap` | finds the registered objects |
/// | `ObjectLoader` | creates, fills and reloads objects from rows |
/// | `ObjectFetcher` | adds the unsaved changes to the results of fetches |
/// | `ChangeTracker` | lists inserted, updated and deleted objects |
/// | `ObjectInsertion`, `DeletePropagation` | insert and delete objects, apply delete rules |
/// | `SaveOperation` | saves |
/// | `CommitMerger` | merges the changes saved by other contexts |
/// | `UndoRegistration`, `ChangeReverter` | undo, roll back and refresh |
/// | `ParentStore` | serves child contexts |
/// | `ChangeCollector` | collects the changes for live results |
/// | `ObservedReferences` | notifies the observers of relationships to deleted objects |
public final class ManagedObjectContext {
    /// The coordinator of the context's stores.
    public let coordinator: PersistentStoreCoordinator
    /// The parent context, from which this context reads and to which it saves; nil if it uses the stores.
    public let parent: ManagedObjectContext?
    /// An object that the layer above associates with the context.
    public weak var owner: AnyObject?
    /// How a save resolves conflicts with changes saved by other contexts, and values that are not unique.
    public var mergePolicy = MergePolicy.error
    /// The author of the context's changes in the history of its stores. If contexts are nested, the author of the
    /// topmost context counts, which writes to the stores. The history keeps the first
    /// ``PersistentHistoryTransaction/authorByteLimit`` bytes.
    public var transactionAuthor: String?

    /// The failed reads of properties. A store that leaves values in place passes it to its ``RowBatchBuilder``.
    public let readFailures: ReadFailures
    let identityMap: IdentityMap
    let loader: ObjectLoader
    let changeTracker: ChangeTracker
    let fetcher: ObjectFetcher
    let deletePropagation: DeletePropagation
    let objectInsertion: ObjectInsertion
    let permanentKeys: PermanentKeys
    let commitMerger: CommitMerger
    let undoRegistration: UndoRegistration
    let changeReverter: ChangeReverter
    let pinnedGeneration: PinnedGeneration
    let changeCollector: ChangeCollector
    let observedReferences = ObservedReferences()
    let savingThread = SavingThread()

    /// Creates a context without objects, which reads from the coordinator's stores and saves to them.
    public convenience init(coordinator: PersistentStoreCoordinator) {
        self.init(coordinator: coordinator, parent: nil)
    }

    /// Creates a context without objects that reads from another context and saves to it, for changes that may be
    /// discarded.
    ///
    /// It reads the parent's objects, including unsaved changes, in their state at that time. Later changes of the
    /// parent are visible when this context fetches or refreshes an object again; changes that the parent or another
    /// child saves are merged. Its own save applies its changes to the parent as unsaved changes, as one undo
    /// operation: if both have changed a value, the value of the child takes precedence. Only the save of the topmost
    /// context writes to a store, and reports conflicts and collisions of unique values.
    ///
    /// New objects of the parent or the child get their permanent identifiers when the other context reads or saves
    /// them.
    ///
    /// The child has the isolation of its parent: the same thread, actor or queue uses both.
    public convenience init(parent: ManagedObjectContext) {
        self.init(coordinator: parent.coordinator, parent: parent)
    }

    private init(coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?) {
        self.coordinator = coordinator
        self.parent = parent
        let stores = StoreRouter(coordinator, parent: parent)
        readFailures = ReadFailures(coordinator)
        identityMap = IdentityMap(coordinator, parent: parent?.identityMap)
        loader = ObjectLoader(identityMap, stores, readFailures)
        changeTracker = ChangeTracker(identityMap)
        fetcher = ObjectFetcher(loader, changeTracker)
        deletePropagation = DeletePropagation(changeTracker)
        objectInsertion = ObjectInsertion(deletePropagation)
        permanentKeys = PermanentKeys(changeTracker, stores)
        pinnedGeneration = PinnedGeneration(coordinator)
        commitMerger = CommitMerger(loader, changeTracker, pinnedGeneration)
        undoRegistration = UndoRegistration(deletePropagation, commitMerger)
        changeReverter = ChangeReverter(undoRegistration)
        changeCollector = ChangeCollector(commitMerger, changeTracker)
        stores.connect(to: self)
        for handler in identityMap.handlers { handler.context = self }
    }

    deinit {
        undoManager?.removeAllActions(withTarget: self)
        let inserted = changeTracker.inserted.objects.filter { $0.state.pointee.key < 0 }
        readFailures.contextWillDeallocate()
        identityMap.disconnect()
        // New objects to which the program refers keep their values and the relationships among themselves.
        identityMap.detach(inserted)
        identityMap.removeAll()
    }

    /// The model.
    public var model: ManagedObjectModel { coordinator.model }

    // MARK: Settings

    /// The number of seconds after a fetch during which its rows may fill faults without a request to the store (see
    /// ``FetchRequest/returnsObjectsAsFaults``). A negative number, the initial value, means no limit, as in Core Data.
    ///
    /// It does not limit the age of filled objects: they keep their values until a fetch reads a later version or
    /// ``refresh(_:mergeChanges:)`` turns them into faults, which always reads the store again. Changes that other
    /// contexts of the coordinator save are merged in any case.
    public var stalenessInterval: TimeInterval {
        get { loader.stalenessInterval }
        set { loader.stalenessInterval = newValue }
    }

    /// Called for the first unsaved change of the context, and again for the first change after each save or rollback;
    /// with live results also for the first change after each update of them.
    public var didGetChanges: (() -> Void)? {
        get { changeTracker.onFirstChange }
        set { changeTracker.onFirstChange = newValue }
    }

    /// Called on any thread when another context has saved changes, which ``processPendingChanges()`` merges, and again
    /// for the first save after that. If there are such changes when it is set, it is called at once, on the same
    /// thread.
    public var onRemoteChange: (@Sendable () -> Void)? {
        get { commitMerger.inbox.onRemoteChange }
        set { commitMerger.inbox.onRemoteChange = newValue }
    }

    /// Whether ``didGetChanges`` is called for the next changed object, even if there are other changes.
    package var announcesNextChange: Bool {
        get { changeTracker.announcesNextChange }
        set { changeTracker.announcesNextChange = newValue }
    }

    /// The undo manager with which the changes are registered; initially nil. Replacing it forgets the operations that
    /// it could undo in this context.
    ///
    /// The changes from one ``processPendingChanges()`` to the next, which fetches and saves call, are one operation. A
    /// group of the undo manager undoes several operations together. The consequences of the changes are undone with
    /// them: inverse relationships and the effects of delete rules.
    ///
    /// - An object whose insertion is undone behaves like a deleted object: it keeps its values. Redoing inserts the
    ///   same object.
    /// - Saved changes can be undone. Undoing then updates, deletes or inserts the objects, for another save to write.
    ///   An object whose deletion was saved is inserted under its previous identifier. One-way relationships lead to it
    ///   again if their objects are in memory and led to it in the store.
    /// - Undoing restores the earlier values, regardless of later saves by other contexts. Objects that other contexts
    ///   deleted stay deleted.
    /// - ``rollback()`` and ``reset()`` forget the context's operations, and so does inserting an object whose deletion
    ///   was saved. ``refresh(_:mergeChanges:)`` cannot be undone.
    ///
    /// Recorded objects stay in memory while their changes can be undone or redone: set ``UndoManager/levelsOfUndo``.
    public var undoManager: UndoManager? {
        get { changeTracker.undoManager }
        set { undoRegistration.setUndoManager(newValue, target: self) }
    }

    // MARK: Changes

    /// Whether the context has unsaved changes.
    public var hasChanges: Bool { deletePropagation.settledChanges.changeCount > 0 }

    /// The objects that the next save inserts, in the order of their insertion into the context.
    public var insertedObjects: [any GraphObject] { deletePropagation.settledChanges.inserted.objects }

    /// The objects that the next save updates, in the order of their first change.
    public var updatedObjects: [any GraphObject] { deletePropagation.settledChanges.updated.objects }

    /// The objects that the next save deletes, in the order of their deletion.
    public var deletedObjects: [any GraphObject] { deletePropagation.settledChanges.deleted.objects }

    /// Merges the changes saved by other contexts, applies the delete rules of deleted objects, and registers the
    /// changes since the last call with the ``undoManager``, as one operation. Every fetch and save begins with it.
    public func processPendingChanges() {
        commitMerger.mergeCommits()
        deletePropagation.run()
        undoRegistration.registerChanges()
        changeCollector.deliver()
    }
}
