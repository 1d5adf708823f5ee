import Guarded
import ObjectGraph

/// Saving: the store receives all values of the changed models.
extension DataStoreAdapter {
    /// Saves the changes of a context in the store.
    ///
    /// - Throws: `SaveConflict` if objects were changed since the context read them, or the store does not have the
    ///   destinations of changed relationships; `ObjectGraphError.unreadable` if
    ///   values of the changed models cannot be read; errors of the store.
    func execute(_ changes: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        // The request contains only the changes; snapshots contain the whole model, with both sides of its
        // relationships.
        guard let graph = (context.owner as? ModelContext)?.graph else { throw DataStoreError.unsupportedFeature }
        let conflicts = conflicts(of: changes)
        if !conflicts.isEmpty { throw SaveConflict.outdated(conflicts) }
        let missing = try missingDestinations(of: changes, context)
        if !missing.isEmpty { throw SaveConflict.missingDestinations(missing) }

        let inserted = own(graph.insertedObjects)
        let temporary = inserted.map { PersistentIdentifier($0.managedObjectID) }
        let result = try connection.save(
            ChangedModels(
                inserted: inserted,
                updated: own(graph.updatedObjects),
                deleted: own(graph.deletedObjects)
            ),
            editingState: editingState(of: context),
            // A snapshot contains the empty substitute of a value that could not be read.
            beforeWriting: graph.requireReadableValues
        )

        reportUnassigned(temporary.filter { result.remappedIdentifiers[$0] == nil })
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
        return SaveResult()
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

    /// Returns the changed references to objects that the store does not have: another program, or a context of another
    /// container, may have deleted them.
    private func missingDestinations(
        of changes: SaveChangesRequest,
        _ context: RequestContext
    ) throws -> [WrittenReference] {
        var references: [WrittenReference] = []
        func note(_ relationship: Relationship, from source: ManagedObjectID, to key: Int64) {
            guard key > 0 else { return }
            let destination = id(key, relationship.destination)
            references.append(.init(source: source, relationship: relationship, destination: destination))
        }
        func note(_ row: Row, where isChanged: (Int) -> Bool) {
            let entity = model.entities[row.entityIndex]
            for relationship in entity.relationships where !relationship.isToMany && isChanged(relationship.slot) {
                note(relationship, from: id(row.key, entity), to: row.integer(at: relationship.slot))
            }
        }
        for row in changes.inserted { note(row) { _ in true } }
        for (row, update) in zip(changes.updated, changes.updates) { note(row) { update.slots.contains($0) } }
        for change in changes.memberships {
            for key in change.added {
                note(change.relationship, from: id(change.owner, change.relationship.source), to: key)
            }
        }
        guard !references.isEmpty else { return [] }
        var present = Set(changes.inserted.map(\.key))
        let unknown = references.filter { !present.contains($0.destination.key) }
        guard !unknown.isEmpty else { return [] }
        // The related models of the last fetch may have been deleted since.
        related.withLock { $0 = [:] }
        for ids in Dictionary(grouping: unknown.map(\.destination), by: { model.root(of: $0.entity).index }).values {
            present.formUnion(try newValuesForObjects(with: Array(Set(ids)), with: context).map(\.key))
        }
        return unknown.filter { !present.contains($0.destination.key) }
    }

    /// Reports new models to which the store has assigned no identifiers.
    private func reportUnassigned(_ identifiers: [PersistentIdentifier]) {
        guard let first = identifiers.first else { return }
        RuntimeIssues.report(
            """
            the store '\(connection.identifier)' has assigned no permanent identifiers to \(identifiers.count) new models, \
            the first of class '\(first.entityName)': return them as `remappedIdentifiers` of the result of `save(_:)`
            """
        )
    }

    /// Notifies contexts of objects whose values in the store differ from the saved values.
    ///
    /// The store has committed, so no error here makes the save fail. Contexts reload the objects whose values cannot
    /// be read, and report an error of the reload as a failed read.
    private func announce(_ result: SavedSnapshots) {
        var unreadable = result.unreadable
        let byRoot = Dictionary(grouping: result.reregistered) { snapshot in
            model.entitiesByName[snapshot.persistentIdentifier.entityName]?.rootIndex
        }
        for case (let rootIndex?, let snapshots) in byRoot {
            do {
                let rows = try rows(of: snapshots, model.entities[rootIndex], inOrder: false)
                target.coordinator?.announce(Commit(updating: rows, model))
            } catch {
                unreadable += snapshots.map(\.persistentIdentifier)
            }
        }
        guard !unreadable.isEmpty else { return }
        var commit = Commit(.others)
        for identifier in unreadable {
            guard let entity = model.entitiesByName[identifier.entityName] else { continue }
            let key = primaryKeys.key(for: identifier, in: entity)
            commit.add(Commit.Change(.updated), of: key, entity: entity)
        }
        target.coordinator?.announce(commit)
    }
}
