import Guarded
import ObjectGraph

/// Saving: the store receives all values of the changed models.
extension DataStoreAdapter {
    /// Saves the changes of a context in the store.
    ///
    /// - Throws: `SaveConflict` if objects were changed since the context read them; `ObjectGraphError.unreadable` if
    ///   values of the changed models cannot be read; errors of the store.
    func execute(_ changes: SaveChangesRequest, with context: ManagedObjectContext?) throws {
        // The request contains only the changes; snapshots contain the whole model, with both sides of its
        // relationships.
        guard let context else { throw DataStoreError.unsupportedFeature }
        let conflicts = conflicts(of: changes)
        if !conflicts.isEmpty { throw SaveConflict.outdated(conflicts) }

        let inserted = own(context.insertedObjects)
        let temporary = inserted.map { PersistentIdentifier($0.managedObjectID) }
        let result = try connection.save(
            ChangedModels(
                inserted: inserted,
                updated: own(context.updatedObjects),
                deleted: own(context.deletedObjects)
            ),
            editingState: editingState(of: context),
            // A snapshot contains the empty substitute of a value that could not be read.
            beforeWriting: context.requireReadableValues
        )

        for (object, identifier) in zip(inserted, temporary) {
            // If the store assigns no permanent identifier, it uses the temporary one.
            let permanent = result.remappedIdentifiers[identifier] ?? identifier
            let id = object.managedObjectID
            // An object that other objects refer to already has its key.
            primaryKeys.assign(permanent, to: id.isTemporary ? object.assignedKey : id.key, in: id.entity)
        }
        related.withLock { $0 = [:] }
        for rows in [changes.inserted, changes.updated] {
            for row in rows { rowVersions.didSave(row) }
        }
        for deletion in changes.deleted { rowVersions.remove(deletion.key) }
        announce(result)
    }

    /// Returns the objects of this store.
    private func own(_ objects: [any GraphObject]) -> [any PersistentModel] {
        objects.compactMap { object in
            guard let model = object as? any PersistentModel,
                target.coordinator?.storeUUID(for: object.managedObjectID.entity) == primaryKeys.storeUUID
            else { return nil }
            return model
        }
    }

    private func conflicts(of changes: SaveChangesRequest) -> [ManagedObjectID] {
        var conflicts: [ManagedObjectID] = []
        for (row, update) in zip(changes.updated, changes.updates)
        where rowVersions.lastVersion(of: row.key) != update.previousVersion {
            conflicts.append(id(row.key, model.entities[row.entityIndex]))
        }
        for deletion in changes.deleted {
            guard let row = deletion.row, rowVersions.lastVersion(of: deletion.key) != row.version else { continue }
            conflicts.append(id(deletion.key, deletion.entity))
        }
        return conflicts
    }

    /// Notifies contexts of objects whose values in the store differ from the saved ones.
    ///
    /// The store has committed, so that no error here is one of the save. Contexts reload the objects whose values
    /// cannot be read, and report an error of that as a failed read.
    private func announce(_ result: SavedSnapshots) {
        var unreadable = result.unreadable
        let byRoot = Dictionary(grouping: result.reregistered) { snapshot in
            model.entitiesByName[snapshot.persistentIdentifier.entityName]?.rootIndex
        }
        for case (let rootIndex?, let snapshots) in byRoot {
            do {
                let rows = try rows(of: snapshots, model.entities[rootIndex], inOrder: false)
                target.coordinator?.announceUpdates(rows)
            } catch {
                unreadable += snapshots.map(\.persistentIdentifier)
            }
        }
        guard !unreadable.isEmpty else { return }
        var changes = CommittedChanges()
        for identifier in unreadable {
            guard let entity = model.entitiesByName[identifier.entityName] else { continue }
            let key = primaryKeys.key(for: identifier, in: entity)
            changes.add(CommittedChanges.Change(.updated), of: key, entity: entity)
        }
        target.coordinator?.announceExternalCommit(changes)
    }
}
