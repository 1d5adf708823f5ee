extension SaveOperation {
    /// Assigns their saved rows to all objects, and ends their changes.
    func complete(_ preparation: borrowing SavePreparation) {
        let composites = adoptSavedRows(of: preparation.batches)
        // Deleted objects stay registered while the program refers to them, so that fetches find them under their keys.
        for entry in preparation.deleted { entry.state.pointee.life.didSave() }
        changeTracker.removeAll()
        changeTracker.noteSave()
        // Released last, since the `deinit` of a value of a program's class may call the context.
        withExtendedLifetime(composites) {}
    }

    /// Assigns their saved rows to the objects of the stores that have committed, and ends their changes. The objects
    /// of the other stores stay changed.
    func complete(_ preparation: borrowing SavePreparation, committed batches: [SavePreparation.StoreBatch]) {
        let composites = adoptSavedRows(of: batches)
        let parts = preparation.parts.filter { part in batches.contains { $0 === part.batch } }
        let isSaved = { (entry: ChangedObject) in
            entry.state.pointee.handler.map { handler in parts.contains { $0.entity === handler.entity } } ?? false
        }
        for entry in preparation.deleted where isSaved(entry) {
            entry.state.pointee.life.didSave()
        }
        changeTracker.removeAll(where: isSaved)
        changeTracker.noteSave()
        withExtendedLifetime(composites) {}
    }

    /// Assigns saved rows to objects, and permanent keys to new objects.
    ///
    /// - Returns: the values of the program's classes that the objects have dropped.
    private func adoptSavedRows(of batches: [SavePreparation.StoreBatch]) -> [any CompositeValue] {
        // Before any key changes, since the members contain temporary keys.
        for batch in batches where batch.hasToMany {
            batch.inserted.forEachRow { position, _ in
                changeTracker.inserted.entries[position].object.forgetSavedMembers(identityMap)
            }
            batch.updated.forEachRow { position, _ in
                changeTracker.updated.entries[position].object.forgetSavedMembers(identityMap)
            }
            for entry in batch.related { entry.object.forgetSavedMembers(identityMap) }
        }
        let hasComposites = identityMap.haveComposites
        var composites: [any CompositeValue] = []
        for batch in batches {
            finishInsertion(of: batch.inserted, hasComposites, &composites)
            changeTracker.updated.withEntries { entries in
                batch.updated.forEachRow { position, row in
                    let state = entries[position].state
                    if hasComposites[row.entityIndex] { state.collectComposites(into: &composites) }
                    state.didSave(as: row)
                }
            }
            for entry in batch.related {
                entry.state.didSave(as: entry.state.pointee.row)
                if entry.state.pointee.flags.contains(.outdated) { outdatedObjects.append(entry.object) }
            }
        }
        return composites
    }

    /// Assigns permanent keys and rows to inserted objects.
    ///
    /// If there are many objects, as in an import, objects to which only the list refers are freed with it, rather than
    /// in the next sweep of the identity table.
    ///
    /// - Parameters:
    ///   - hasComposites: Whether entities have composite attributes.
    ///   - composites: Receives the values of such attributes that the objects drop.
    private func finishInsertion(
        of rows: borrowing SavePreparation.ChangedRows,
        _ hasComposites: [Bool],
        _ composites: inout [any CompositeValue]
    ) {
        changeTracker.inserted.withMutableEntries { entries in
            let releasesUnused = rows.count > ObjectTable.smallestSweep
            rows.forEachRow { position, row in
                let state = entries[position].state
                state.borrowedHandler?._withUnsafeGuaranteedRef { handler in
                    handler.table.remove(state.pointee.key)
                    identityMap.noteKey(row.key, of: state)
                    if releasesUnused, entries[position].isOnlyReference() { return }
                    handler.table.insert(entries[position].reference, forKey: row.key, entity: row.entityIndex)
                    state.pointee.key = row.key
                    if hasComposites[row.entityIndex] { state.collectComposites(into: &composites) }
                    state.didSave(as: row)
                }
            }
        }
    }
}

extension GraphObject {
    /// Converts the loaded members of to-many relationships to their saved form.
    fileprivate func forgetSavedMembers(_ identityMap: IdentityMap) {
        guard let changes = state.pointee.changes, entity.hasToMany else { return }
        for relationship in entity.relationships where relationship.isToMany {
            changes.members(at: relationship.slot)?.didSave {
                identityMap.permanentKey(for: $0, of: relationship.destination)
            }
        }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Collects the values of composite attributes in the changes.
    fileprivate func collectComposites(into composites: inout [any CompositeValue]) {
        guard let changes = pointee.changes else { return }
        for slot in 0..<changes.slotCount {
            if case .composite(let value) = changes[slot] { composites.append(value) }
        }
    }

    /// Drops the changes that the row now contains. Loaded members of to-many relationships stay.
    fileprivate func didSave(as row: Row?) {
        pointee.row = row
        pointee.life.didSave()
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
