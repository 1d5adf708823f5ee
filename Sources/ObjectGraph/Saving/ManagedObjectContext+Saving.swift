extension ManagedObjectContext {
    /// Writes all changes in one transaction, and tells the coordinator's other contexts.
    ///
    /// Changes of the objects of several stores are one transaction of each store. All stores write before the first one
    /// commits, so that an error in any of them leaves all of them as they were. Only a commit that fails after another store
    /// has committed divides the save.
    ///
    /// Conflicts are settled as the ``mergePolicy`` says. When it throws, neither the store nor the context has changed:
    /// after a repair it can be called again.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` with every value that cannot be saved;
    ///   ``ObjectGraphError/conflicts(_:)`` where objects changed in the store since they were read, and
    ///   ``ObjectGraphError/notUnique(_:)`` where values have to be unique and are not, if the policy does not settle it;
    ///   ``ObjectGraphError/unreadable(_:)`` where values could not be read, also where there is nothing to save, until
    ///   ``forgetReadFailures()``, ``rollback()`` or ``refresh(_:mergeChanges:)``;
    ///   ``ObjectGraphError/incompleteSave(_:)`` where several stores are saved and one could not commit after another one did;
    ///   ``ObjectGraphError/saveInProgress`` if `willSave()` or a validation of an object saves the context;
    ///   ``ObjectGraphError/usedByAnotherThread`` where another thread is saving the context; what the stores throw.
    public func save() throws {
        try requireOwnThread()
        guard !isSaving else { throw ObjectGraphError.saveInProgress }
        takeInSavedChanges()
        try requireReadableValues()
        guard hasChanges else { return registerUndo() }
        var told: [ManagedObject] = []
        do {
            try saveChanges(telling: &told)
        } catch ObjectGraphError.incompleteSave(let save) {
            for object in told where !object.hasChanges { object.didSave() }
            throw ObjectGraphError.incompleteSave(save)
        }
        for object in told { object.didSave() }
    }

    /// Saves.
    ///
    /// - Parameter told: Becomes the objects that are to be told when they have been saved.
    private func saveChanges(telling told: inout [ManagedObject]) throws {
        try beginSaving()
        defer { endSaving() }
        try tellOfSave()
        // What objects changed when they were told is undone together with the changes before.
        registerUndo()
        told = changedLifecycleObjects
        if recorder != nil { loadMembersOfDeletedObjects() }
        try withoutRecording { try advancingGeneration(writeChanges) }
    }

    private func writeChanges() throws {
        var resolution = ConflictResolution(self)
        do {
            var saved: [SaveChangesRequest]?
            while saved == nil { saved = try tryToWrite(settlingConflictsWith: &resolution) }
            resolution.finish()
            for request in saved ?? [] where !request.isEmpty { announce(.save(request)) }
        } catch {
            resolution.takeBack()
            throw error
        }
    }

    /// Tries to save.
    ///
    /// - Returns: what was saved; nil where a conflict was settled, and it is time to try again. No object is held by it.
    private func tryToWrite(settlingConflictsWith resolution: inout ConflictResolution) throws -> [SaveChangesRequest]?
    {
        let preparation = try prepareSave()
        let write = SaveWrite(preparation, of: self)
        do {
            try write.run()
        } catch  where !write.committed.isEmpty {
            // What was changed for the sake of the merge policy is saved in part: it stays.
            resolution.forgetSnapshot()
            finishSave(preparation, of: write.committed)
            for batch in write.committed { announce(.save(batch.request)) }
            throw ObjectGraphError.incompleteSave(try write.outcome(after: error))
        } catch let conflict as SaveConflict {
            try resolution.resolve(conflict)
            return nil
        }
        finishSave(preparation)
        return preparation.batches.map(\.request)
    }

    /// How many times values that are encoded may change which objects there are to save.
    private static let mostPreparations = 100

    /// Encodes all changes: anew, where values of the program's own types have changed meanwhile which objects there are to
    /// save.
    ///
    /// - Throws: ``ObjectGraphError/endlessChanges`` where they do so every time.
    private func prepareSave() throws -> SavePreparation {
        for _ in 0..<Self.mostPreparations {
            let rejections = try rejections()
            propagateDeletes()
            try assignPermanentKeys()
            let changes = [inserted.stamp, updated.stamp, deleted.stamp]
            let preparation = try SavePreparation(self, rejections)
            // `willSave()`, validations and the preparation itself read values.
            try requireReadableValues()
            if changes == [inserted.stamp, updated.stamp, deleted.stamp] { return preparation }
        }
        throw ObjectGraphError.endlessChanges
    }

    /// Asks the stores for the permanent keys of all new objects. They stay with the objects, even if the save fails.
    func assignPermanentKeys() throws {
        var counts = Array(repeating: 0, count: model.entities.count)
        forEachKeyless { rootIndex, _ in counts[rootIndex] += 1 }
        var keys: [[Int64]] = Array(repeating: [], count: counts.count)
        for (rootIndex, count) in counts.enumerated() where count > 0 {
            let root = model.entities[rootIndex]
            keys[rootIndex] = try store(for: root).obtainPermanentIDs(for: root, count: count).map { $0.key }
        }
        var next = Array(repeating: 0, count: counts.count)
        forEachKeyless { rootIndex, changes in
            let position = next[rootIndex]
            next[rootIndex] += 1
            if position < keys[rootIndex].count { changes.assignedKey = keys[rootIndex][position] }
        }
    }

    /// Goes through the new objects that have no permanent key yet, with the positions of their root entities.
    private func forEachKeyless(_ body: (Int, ObjectChanges) -> Void) {
        inserted.withEntries { entries in
            for position in entries.indices {
                let state = entries[position].state
                guard state.pointee.life.isInserted, let handler = state.borrowedHandler else { continue }
                let rootIndex = handler._withUnsafeGuaranteedRef { $0.rootIndex }
                state.borrowedChanges?._withUnsafeGuaranteedRef { changes in
                    if changes.assignedKey == 0 { body(rootIndex, changes) }
                }
            }
        }
    }

    /// The permanent key of an object with a key, which may be temporary; 0 where it will not be in the store.
    func permanentKey(for key: Int64, of entity: Entity) -> Int64 {
        guard let object = knownObject(forKey: key, of: entity) else { return max(key, 0) }
        guard !object.life.isGone else { return 0 }
        return key > 0 ? key : object.state.pointee.changes?.assignedKey ?? 0
    }

    /// Makes the objects what their saved rows say.
    private func finishSave(_ preparation: SavePreparation) {
        let composites = adoptSavedRows(of: preparation.batches)
        // They stay registered as long as the program refers to them, so that fetches still find them under their keys.
        for entry in preparation.deleted { entry.state.pointee.life.didSave() }
        clearChangeLists()
        saveCount += 1
        // Only now, since the end of a value of a class of the program's may come back to the context.
        withExtendedLifetime(composites) {}
    }

    /// Makes the objects of some stores what their saved rows say. Those of the others stay changed.
    private func finishSave(_ preparation: SavePreparation, of batches: [SavePreparation.StoreBatch]) {
        let composites = adoptSavedRows(of: batches)
        let isSaved = { (entry: ChangedObject) in
            entry.state.pointee.handler.map { preparation.isEntity($0.entity, in: batches) } ?? false
        }
        for entry in preparation.deleted where isSaved(entry) {
            entry.state.pointee.life.didSave()
        }
        deletionStamp &+= 1
        let saved = (
            inserted.removeAll(where: isSaved), updated.removeAll(where: isSaved), deleted.removeAll(where: isSaved),
            recentMembers.removeAll()
        )
        saveCount += 1
        withExtendedLifetime((composites, saved)) {}
    }

    /// Gives objects their saved rows, and new ones their permanent keys.
    ///
    /// - Returns: values of classes of the program's that nothing refers to any more.
    private func adoptSavedRows(of batches: [SavePreparation.StoreBatch]) -> [any CompositeValue] {
        // All members before any key changes: they are told by the temporary keys.
        for batch in batches where batch.hasToMany {
            batch.inserted.forEachRow { position, _ in inserted.entries[position].object.forgetSavedMembers(in: self) }
            batch.updated.forEachRow { position, _ in updated.entries[position].object.forgetSavedMembers(in: self) }
            for entry in batch.related { entry.object.forgetSavedMembers(in: self) }
        }
        let hasComposites = model.entities.map(\.hasComposites)
        var composites: [any CompositeValue] = []
        for batch in batches {
            finishInsertion(of: batch.inserted, hasComposites, &composites)
            updated.withEntries { entries in
                batch.updated.forEachRow { position, row in
                    let state = entries[position].state
                    if hasComposites[row.entityIndex] { state.collectComposites(into: &composites) }
                    state.didSave(as: row)
                }
            }
            for entry in batch.related { entry.state.didSave(as: entry.state.pointee.row) }
        }
        return composites
    }

    /// Gives inserted objects their permanent keys and their rows.
    ///
    /// Where there are many, as when data are imported, those that nobody refers to end with the list, rather than in the
    /// table's next sweep.
    ///
    /// - Parameters:
    ///   - hasComposites: Whether entities have composite attributes.
    ///   - composites: Where the values of such attributes go that the objects let go of.
    private func finishInsertion(
        of rows: borrowing SavePreparation.ChangedRows,
        _ hasComposites: [Bool],
        _ composites: inout [any CompositeValue]
    ) {
        inserted.withMutableEntries { entries in
            let letsGo = rows.count > IdentityTable.smallestSweep
            rows.forEachRow { position, row in
                let state = entries[position].state
                state.borrowedHandler?._withUnsafeGuaranteedRef { handler in
                    handler.table.remove(state.pointee.key)
                    if letsGo, entries[position].isOnlyReference() { return }
                    handler.table.insert(entries[position].reference, forKey: row.key, entity: row.entityIndex)
                    state.pointee.key = row.key
                    if hasComposites[row.entityIndex] { state.collectComposites(into: &composites) }
                    state.didSave(as: row)
                }
            }
        }
    }

    /// Empties the lists of changed objects and resets the flags that tell of them.
    func clearChangeLists() {
        deletionStamp &+= 1
        earlierKeys = [:]
        let all = (inserted.removeAll(), updated.removeAll(), deleted.removeAll(), recentMembers.removeAll())
        // Only now, since an object's own `deinit` may come back to the context.
        withExtendedLifetime(all) {}
    }
}

extension GraphObject {
    /// Brings the loaded members of to-many relationships to their saved form.
    fileprivate func forgetSavedMembers(in context: ManagedObjectContext) {
        guard let changes = state.pointee.changes, entity.hasToMany else { return }
        for relationship in entity.relationships where relationship.isToMany {
            changes.members(at: relationship.slot)?.didSave {
                context.permanentKey(for: $0, of: relationship.destination)
            }
        }
    }

}

extension UnsafeMutablePointer<ObjectState> {
    /// Keeps the values of composite attributes among the changes.
    fileprivate func collectComposites(into composites: inout [any CompositeValue]) {
        guard let changes = pointee.changes else { return }
        for slot in 0..<changes.slotCount {
            if case .composite(let value) = changes[slot] { composites.append(value) }
        }
    }

    /// Drops the changes that the row has now; loaded members of to-many relationships stay.
    fileprivate func didSave(as row: Row?) {
        pointee.life.didSave()
        pointee.row = row
        let mayHaveMembers = borrowedHandler?._withUnsafeGuaranteedRef { $0.entity.hasToMany } ?? false
        guard mayHaveMembers, let changes = pointee.changes else {
            pointee.changes = nil
            return
        }
        var keepsMembers = false
        for slot in 0..<changes.slotCount {
            if changes.members(at: slot)?.isLoaded == true {
                keepsMembers = true
            } else {
                changes[slot] = .unset
            }
        }
        if keepsMembers || changes.cachedRow != nil {
            changes.assignedKey = 0
        } else {
            pointee.changes = nil
        }
    }
}
