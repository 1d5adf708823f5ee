/// One save of a context.
///
/// ``run()`` is the list of its steps; each step names the part that carries it out.
final class SaveOperation {
    /// The maximum number of times that values which are encoded may change which objects are to be saved.
    private static let maximumPreparations = 100

    let mergePolicy: MergePolicy
    let loader: ObjectLoader
    let changeTracker: ChangeTracker
    let deletePropagation: DeletePropagation
    private let permanentKeys: PermanentKeys
    private let undo: UndoRegistration
    private let generation: PinnedGeneration
    private let remoteChanges: RemoteChangeMerger
    private let thread: SavingThread
    /// Whether a store has committed.
    private var hasCommitted = false
    /// The objects whose `didSave()` is called.
    private var savedObjects: [ManagedObject] = []

    var identityMap: IdentityMap { loader.identityMap }

    init(
        mergePolicy: MergePolicy,
        _ permanentKeys: PermanentKeys,
        _ undo: UndoRegistration,
        _ thread: SavingThread
    ) {
        self.mergePolicy = mergePolicy
        self.permanentKeys = permanentKeys
        self.undo = undo
        self.thread = thread
        remoteChanges = undo.remoteChanges
        loader = remoteChanges.loader
        generation = remoteChanges.generation
        changeTracker = undo.changeTracker
        deletePropagation = undo.deletePropagation
    }

    /// Saves all changes.
    ///
    /// - Throws: as ``ManagedObjectContext/save()``.
    func run() throws {
        try thread.requireNoSave()
        remoteChanges.mergeAnnouncements()
        deletePropagation.run()
        try loader.requireReadableValues()
        guard changeTracker.changeCount > 0 else { return undo.registerChanges() }
        // After the save has ended: the methods may save again.
        defer { for object in savedObjects { object.didSave() } }
        try thread.saving {
            try callWillSave()
            // An undo reverts the changes of `willSave()` together with those before.
            undo.registerChanges()
            undo.loadMembersOfDeletedObjects()
            let lifecycleObjects = changedLifecycleObjects
            defer { savedObjects = hasCommitted ? lifecycleObjects.filter { !$0.hasChanges } : [] }
            try changeTracker.withoutRecording {
                try generation.advancing(merging: remoteChanges.mergeAnnouncements, write)
            }
        }
    }

    // MARK: Writing

    /// Writes the changes, again after each conflict that the merge policy resolves, and announces them.
    private func write() throws {
        var resolution = ConflictResolution(mergePolicy, loader, deletePropagation)
        do {
            var saved: [SaveChangesRequest]?
            while saved == nil { saved = try attempt(resolvingConflictsWith: &resolution) }
            resolution.finish()
            for request in saved ?? [] where !request.isEmpty { remoteChanges.announce(.save(request)) }
        } catch {
            resolution.revert()
            throw error
        }
    }

    /// Writes the changes once.
    ///
    /// - Returns: the saved changes; nil if a conflict was resolved, and the changes are to be written again. They retain no
    ///   object.
    private func attempt(resolvingConflictsWith resolution: inout ConflictResolution) throws -> [SaveChangesRequest]? {
        let preparation = try prepare()
        let write = SaveWrite(preparation, to: loader.stores)
        do {
            try write.run()
        } catch  where !write.committed.isEmpty {
            // What the merge policy changed is saved in part: it stays.
            resolution.forgetSnapshot()
            hasCommitted = true
            complete(preparation, committed: write.committed)
            for batch in write.committed { remoteChanges.announce(.save(batch.request)) }
            throw ObjectGraphError.incompleteSave(try write.outcome(after: error))
        } catch let conflict as SaveConflict {
            try resolution.resolve(conflict)
            return nil
        }
        hasCommitted = true
        complete(preparation)
        return preparation.batches.map(\.request)
    }

    /// Validates and encodes all changes; again if values of the program's own types have changed meanwhile which objects
    /// are to be saved.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` if they do so every time.
    private func prepare() throws -> SavePreparation {
        for _ in 0..<Self.maximumPreparations {
            let rejections = try validate()
            deletePropagation.run()
            try permanentKeys.assign()
            let stamps = changeTracker.stamps
            let preparation = try SavePreparation(self, deletePropagation.deniedDeletions(), rejections)
            // `willSave()`, validations and the preparation itself read values.
            deletePropagation.run()
            try loader.requireReadableValues()
            if stamps == changeTracker.stamps { return preparation }
        }
        throw ObjectGraphError.endlessChanges
    }
}
