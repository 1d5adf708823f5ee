import Foundation

/// One save of a context.
///
/// ``run()`` is the list of its steps; each step names the part that implements it.
final class SaveOperation {
    /// The maximum number of times that the encoding of values may change the set of objects to save.
    private static let maximumPreparations = 100
    /// The number of bytes of deferred values that a save keeps of the objects that it deletes. The last value may
    /// exceed it.
    private static let keptDeferredBytes = 32 << 20

    /// The changes of a store that were saved, and the number of the transaction in its history.
    private typealias SavedRequest = (request: SaveChangesRequest, transaction: Int64?)

    let mergePolicy: MergePolicy
    let loader: ObjectLoader
    let changeTracker: ChangeTracker
    private let permanentKeys: PermanentKeys
    private let undo: UndoRegistration
    private let thread: SavingThread
    /// Whether a store has committed.
    private var hasCommitted = false
    /// The transactions of the save in the histories of the stores that record it, by the identities of the stores.
    private(set) var historyPositions: [UUID: PersistentHistoryPosition] = [:]
    /// The objects whose `didSave()` is called.
    private var savedObjects: [ManagedObject] = []
    /// The outdated objects whose changes have ended although no value of them was written. No access calls the program:
    /// dynamic exclusivity checks would only cost time.
    @exclusivity(unchecked) var outdatedObjects: [any GraphObject] = []

    var identityMap: IdentityMap { loader.identityMap }
    var deletePropagation: DeletePropagation { undo.deletePropagation }
    private var commitMerger: CommitMerger { undo.commitMerger }

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
        loader = undo.commitMerger.loader
        changeTracker = undo.changeTracker
    }

    /// Saves all changes.
    ///
    /// - Throws: as ``ManagedObjectContext/save()``.
    func run() throws {
        commitMerger.mergeCommits()
        let changes = deletePropagation.settledChanges
        try loader.requireReadableValues()
        guard changes.changeCount > 0 else {
            undo.registerChanges()
            return changeTracker.releaseUnchanged()
        }
        // Called after the save has ended: the methods may save again.
        defer { for object in savedObjects { object.didSave() } }
        try thread.saving {
            try callWillSave()
            // An undo reverts the changes of `willSave()` together with the earlier changes.
            undo.registerChanges()
            undo.loadMembersOfDeletedObjects()
            let lifecycleObjects = changedLifecycleObjects
            defer { savedObjects = hasCommitted ? lifecycleObjects.filter { !$0.hasChanges } : [] }
            try changeTracker.withoutRecording {
                defer { loader.reloadOutdated(among: outdatedObjects) }
                try commitMerger.generation.advancing(merging: commitMerger.mergeCommits, write)
            }
        }
    }

    // MARK: Writing

    /// Writes the changes, again after each conflict that the merge policy resolves, and announces them.
    private func write() throws {
        var resolution: ConflictResolution?
        do {
            var saved: (requests: [SavedRequest], write: SaveWrite)?
            while saved == nil { saved = try attempt(resolvingConflictsWith: &resolution) }
            resolution?.finish()
            if let merged = resolution?.merged { commitMerger.noteMerged(merged) }
            guard let saved else { return }
            historyPositions = saved.write.historyPositions
            for saved in saved.requests where !saved.request.isEmpty {
                commitMerger.announce(Commit(saved.request, saved.transaction, identityMap.model))
            }
            mergeCleared(by: saved.write)
        } catch {
            resolution?.revert()
            throw error
        }
    }

    /// Merges and announces the changes of rows that the stores have made although the requests do not contain them.
    private func mergeCleared(by write: SaveWrite) {
        let cleared = write.cleared
        guard !cleared.isEmpty else { return }
        for list in cleared { loader.reloadCleared(list) }
        commitMerger.announce(Commit(cleared: cleared))
    }

    /// Writes the changes once.
    ///
    /// - Returns: the saved changes, which retain no object, and the results of the stores; nil if a conflict was resolved
    ///   and the changes must be written again.
    private func attempt(
        resolvingConflictsWith resolution: inout ConflictResolution?
    ) throws -> (requests: [SavedRequest], write: SaveWrite)? {
        let preparation = try prepare()
        let write = SaveWrite(preparation, to: loader.stores)
        keepDeferredValues(of: preparation)
        do {
            try write.run()
        } catch  where !write.committed.isEmpty {
            // A part of the changes of the merge policy is saved, so they are not reverted.
            resolution?.forgetSnapshot()
            hasCommitted = true
            complete(preparation, committed: write.committed)
            if let merged = resolution?.merged { commitMerger.noteMerged(merged) }
            for batch in write.committed {
                commitMerger.announce(Commit(batch.request, write.transaction(of: batch), identityMap.model))
            }
            mergeCleared(by: write)
            throw ObjectGraphError.incompleteSave(try write.outcome(after: error))
        } catch let conflict as SaveConflict {
            if resolution == nil { resolution = ConflictResolution(mergePolicy, loader, deletePropagation) }
            try resolution?.resolve(conflict)
            return nil
        }
        hasCommitted = true
        complete(preparation)
        return (preparation.batches.map { ($0.takeRequest(), write.transaction(of: $0)) }, write)
    }

    /// Reads the deferred values of deleted objects, which the program may copy to other objects after the save.
    private func keepDeferredValues(of preparation: borrowing SavePreparation) {
        var rest = Self.keptDeferredBytes
        for entry in preparation.deleted where rest > 0 {
            guard entry.state.pointee.row?.mayHaveDeferredBlobs ?? false else { continue }
            rest -= entry.object.keepDeferredValues(limit: rest)
        }
    }

    /// Validates and encodes all changes; again if values of the program's types have changed the set of objects to
    /// save.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` if they change it every time.
    private func prepare() throws -> SavePreparation {
        for _ in 0..<Self.maximumPreparations {
            let rejections = try validate()
            deletePropagation.run()
            try permanentKeys.assign()
            let stamp = changeTracker.stamp
            let preparation = try SavePreparation(self, deletePropagation.deniedDeletions(), rejections)
            // `willSave()`, validations and the preparation itself read values.
            deletePropagation.run()
            try loader.requireReadableValues()
            if stamp == changeTracker.stamp { return preparation }
        }
        throw ObjectGraphError.endlessChanges
    }
}
