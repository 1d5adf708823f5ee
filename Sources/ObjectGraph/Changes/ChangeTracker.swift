/// The unsaved changes of a context: its inserted, updated and deleted objects, the deletes whose rules are not applied
/// yet, and the record of the changes for undo.
///
/// - Invariant: An object that counts as inserted, updated or deleted is in the list with that name, and in the count
///   of no other list. The list retains it.
final class ChangeTracker {
    let identityMap: IdentityMap

    // No access calls the context: dynamic exclusivity checks would only cost time.
    @exclusivity(unchecked) var inserted = ChangeList(.inserted)
    @exclusivity(unchecked) var updated = ChangeList(.updated)
    @exclusivity(unchecked) var deleted = ChangeList(.deleted)
    /// Deleted objects whose delete rules have not been applied yet.
    @exclusivity(unchecked) var unpropagatedDeletes: [any GraphObject] = []
    /// The recorder of the changes; nil without an undo manager, and during changes that cannot be undone.
    @exclusivity(unchecked) var recorder: ChangeRecorder?
    /// See ``ManagedObjectContext/undoManager``.
    var undoManager: UndoManager?
    /// The context, as the target of operations of the undo manager.
    weak var undoTarget: AnyObject?
    /// The number of saves.
    private(set) var saveCount = 0
    /// See ``ManagedObjectContext/didGetChanges``.
    var onFirstChange: (() -> Void)?
    /// Called together with ``onFirstChange``, for the followers of the context.
    var onFollowedChange: (() -> Void)?
    /// Called with an object of which the followers of the context know unsaved changes, when new unsaved changes
    /// begin.
    var onRestart: ((any GraphObject) -> Void)?
    /// Called with a deleted object that is inserted again, if the context has followers.
    var onReturn: ((any GraphObject) -> Void)?
    /// Whether ``onFirstChange`` is called for the next changed object, even if there are other changes.
    var announcesNextChange = false

    init(_ identityMap: IdentityMap) {
        self.identityMap = identityMap
    }

    // MARK: State

    /// The number of objects that a save writes.
    var changeCount: Int { inserted.count + updated.count + deleted.count }

    /// The entries of all lists, including some objects that are no longer changed.
    var changedEntries: [ChangedObject] { inserted.entries + updated.entries + deleted.entries }

    /// A value that differs after every change of the lists.
    var stamp: Stamp { Stamp(inserted: inserted.stamp, updated: updated.stamp, deleted: deleted.stamp) }

    /// See ``stamp``.
    struct Stamp: Equatable {
        fileprivate let inserted: ChangeList.Stamp
        fileprivate let updated: ChangeList.Stamp
        fileprivate let deleted: ChangeList.Stamp
    }

    // MARK: Changes

    /// Lists a new object, or an object whose saved deletion was reverted.
    func insert(_ object: any GraphObject) {
        announceChange(of: object)
        inserted.add(object)
        recorder?.didInsert(object)
    }

    /// Lists an object whose own values changed, including an object that another context or process has deleted: its
    /// save reports the conflict, whether the deletion was merged before or after the change.
    func markChanged(_ object: any GraphObject) {
        guard object.life.isMissing else { return object.noteChange() }
        guard object.life == .missing, object.state.pointee.row != nil,
            identityMap.object(forKey: object.state.pointee.key, of: object.entity) === object
        else { return }
        object.state.pointee.flags.insert(.outdated)
        announceChange(of: object)
        updated.add(object)
    }

    /// Lists a deleted object. A new object leaves the lists: the store has no row to delete.
    func delete(_ object: any GraphObject) {
        announceChange(of: object)
        if object.life.isInserted {
            inserted.discard(object)
            object.state.pointee.handler?.table.noteDiscarded(object.state.pointee.key)
        } else {
            unlistUpdate(of: object)
            deleted.add(object)
        }
        identityMap.noteDeletion(of: object)
        unpropagatedDeletes.append(object)
        object.notifyObserversOfExistence()
    }

    /// Reverts an unsaved deletion. The object counts as updated, since its deletion may have cleared relationships.
    func undelete(_ object: any GraphObject) {
        deleted.remove(object)
        object.state.pointee.flags.subtract([.deletePropagated, .deletedByCascade])
        identityMap.noteDeletion()
        recorder?.didInsert(object)
        object.noteChange()
        object.notifyObserversOfExistence()
    }

    /// Removes an object from the updated objects.
    func unlistUpdate(of object: any GraphObject) {
        if object.life.isUpdated { updated.remove(object) }
    }

    /// Removes an object whose changes were dropped from the updated objects, unless ``isRestored(_:)`` holds.
    func dropUpdate(of object: any GraphObject) {
        if !isRestored(object) { unlistUpdate(of: object) }
    }

    /// Whether the deletion of an object was reverted while other objects are deleted. The store may still relate it to
    /// a deleted owner, and the save clears only the references of listed objects.
    func isRestored(_ object: any GraphObject) -> Bool {
        deleted.count > 0 && object.life == .updated && object.state.pointee.flags.contains(.listedAsDeleted)
    }

    /// Removes an object from the deleted objects.
    func unlistDeletion(of object: any GraphObject) {
        if object.life.isDeleted { deleted.remove(object) }
    }

    /// Calls ``onFirstChange`` if the next listed change must be announced, and ``onRestart``.
    fileprivate func announceChange(of object: any GraphObject) {
        if object.state.pointee.flags.contains(.followed) { onRestart?(object) }
        guard changeCount == 0 || announcesNextChange else { return }
        announcesNextChange = false
        onFirstChange?()
        onFollowedChange?()
    }

    // MARK: End of the changes

    /// Counts a save.
    func noteSave() { saveCount += 1 }

    /// Empties the lists and resets the flags of their objects.
    func removeAll() {
        identityMap.noteDeletion()
        identityMap.forgetTemporaryKeys()
        let all = (inserted.removeAll(), updated.removeAll(), deleted.removeAll())
        // Released last, since the `deinit` of an object may call the context.
        withExtendedLifetime(all) {}
    }

    /// Empties the lists if none of their objects has a change.
    func releaseUnchanged() {
        let isEmpty = inserted.entries.isEmpty && updated.entries.isEmpty && deleted.entries.isEmpty
        if changeCount == 0, !isEmpty { removeAll() }
    }

    /// Removes the objects for which `isRemoved` holds from the lists and resets their flags.
    func removeAll(where isRemoved: (ChangedObject) -> Bool) {
        identityMap.noteDeletion()
        let removed = (
            inserted.removeAll(where: isRemoved), updated.removeAll(where: isRemoved),
            deleted.removeAll(where: isRemoved)
        )
        withExtendedLifetime(removed) {}
    }
}

extension GraphObject {
    /// Lists the object among the updated objects of its context, unless it is listed already, missing, or in no
    /// context.
    @inline(__always)
    func noteChange() {
        guard state.pointee.life == .unchanged,
            let context = state.borrowedHandler?._withUnsafeGuaranteedRef({ $0.borrowedContext })
        else { return }
        // Retained, since announcing the change may call the program, which may release the context.
        withExtendedLifetime(context.takeUnretainedValue()) {
            $0.changeTracker.announceChange(of: self)
            $0.changeTracker.updated.add(self)
        }
    }
}
