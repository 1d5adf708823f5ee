extension ObjectLoader {
    /// The effect of reloading on an object with unsaved changes.
    enum ChangedObjects {
        /// The object keeps its row if the store has a later version, and its save reports the conflict.
        case becomeOutdated
        /// The object takes the row as the new base of its changes, and its save reports no conflict.
        case takeRow
        /// The object takes the row if it has the same version, because the store has cleared keys in it. If the
        /// version is later, the object's save reports the conflict. Unchanged objects are treated alike.
        case takeRowOfSameVersion
        /// As ``becomeOutdated``, but the row keeps the keys of deleted objects, by which an undo of the deletions
        /// finds the references to them.
        case keepKeysOfDeleted
    }

    /// The effect of reloading on an object without a row in the store.
    enum MissingRows {
        /// The object becomes missing and keeps its last values.
        case markMissing
        /// The object does not change.
        case keepObjects
    }

    /// The effect of an error of the store.
    enum ReadErrors {
        /// The context's next fetch or save throws the error.
        case report
        /// The error is dropped: the caller reports an earlier error.
        case ignore
    }

    /// Reloads objects whose unsaved changes have ended, and that other contexts have changed since these changes
    /// began. Every end of changes without a commit of the object's row is followed by a call.
    func reloadOutdated(among objects: [any GraphObject]) {
        var outdated: [any GraphObject] = []
        // The new rows of these objects may have earlier versions.
        var replaced: [any GraphObject] = []
        for object in objects where !object.life.hasChanges {
            let flags = object.state.pointee.flags.intersection([.outdated, .replaced])
            guard !flags.isEmpty else { continue }
            object.state.pointee.flags.subtract(flags)
            if let row = object.lastRow { unloadMembers(namedBy: row) }
            if flags.contains(.replaced) { replaced.append(object) } else { outdated.append(object) }
        }
        if !outdated.isEmpty {
            reload(outdated, changedObjects: .becomeOutdated, missingRows: .markMissing, failures: .report)
        }
        if !replaced.isEmpty {
            reload(replaced, changedObjects: .takeRow, missingRows: .markMissing, failures: .report)
        }
        for object in outdated + replaced { if let row = object.lastRow { unloadMembers(namedBy: row) } }
    }

    /// Reloads missing objects, which other contexts may have inserted again.
    func reloadReturned(among objects: [any GraphObject]) {
        let missing = objects.filter { $0.life.isMissing && !$0.life.hasChanges }
        if missing.isEmpty { return }
        reload(missing, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
        for object in missing where !object.life.isMissing {
            if let row = object.lastRow { unloadMembers(namedBy: row) }
        }
    }

    /// Reloads registered objects whose rows a store has changed in a save of this context although the request does
    /// not contain them.
    func reloadCleared(_ list: BatchChanges.Keys) {
        let known = list.keys.compactMap { identityMap.object(forKey: $0, of: list.entity) }
            .filter { $0.lastRow != nil && !$0.life.isMissing }
        for object in known { if let row = object.lastRow { unloadMembers(namedBy: row) } }
        reload(known, changedObjects: .keepKeysOfDeleted, missingRows: .keepObjects, failures: .report)
        for object in known { if let row = object.lastRow { unloadMembers(namedBy: row) } }
        unloadSharedMembers(of: list)
    }

    /// Unloads the to-many relationships with a shared inverse of objects that a store has changed although the request
    /// of a save does not contain them: their rows do not show the change of such a relationship.
    private func unloadSharedMembers(of list: BatchChanges.Keys) {
        for relationship in identityMap.model.relationships
        where relationship.sharedInverse != nil && relationship.source.rootIndex == list.entity.rootIndex {
            for key in list.keys { unloadMembers(of: relationship, owner: key) }
        }
    }

    /// Reads the rows of saved objects again, with one request for each root entity. Objects whose rows cannot be read do
    /// not change.
    ///
    /// - Parameter reader: The object whose read needs its row. Failures of the other objects are not reported, since
    ///   none of their properties was read. Nil to report the failures of all objects.
    /// - Returns: the objects without a row in the store.
    @discardableResult
    func reload(
        _ objects: [any GraphObject],
        changedObjects: ChangedObjects,
        missingRows: MissingRows,
        failures: ReadErrors,
        for reader: (any GraphObject)? = nil
    ) -> [any GraphObject] {
        guard let first = objects.first else { return [] }
        let rootIndex = first.entity.rootIndex
        guard objects.dropFirst().allSatisfy({ $0.entity.rootIndex == rootIndex }) else {
            return Dictionary(grouping: objects, by: \.entity.rootIndex).values.flatMap {
                reload($0, changedObjects: changedObjects, missingRows: missingRows, failures: failures, for: reader)
            }
        }
        let read = { [self] in
            try readInParts(objects[...]) { try stores.rows(of: first.entity, with: $0.map(identityMap.id)) }
        }
        let found = failures == .report ? reading(for: first, nil, read) : try? read()
        guard let parts = found else { return [] }
        var missing = Dictionary(
            objects.map { ($0.state.pointee.key, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for (object, error) in parts.failures {
            let key = object.state.pointee.key
            missing[key] = nil
            unreadable.addRow(key, of: object.entity)
            guard failures == .report, reader == nil || reader === object else { continue }
            readFailures.add(.init(entityIndex: object.entity.index, key: key, slot: nil, cause: error))
        }
        var filled: [any GraphObject] = []
        for row in parts.results.joined() {
            guard let object = missing.removeValue(forKey: row.key) else { continue }
            if object.reload(row, changedObjects) { filled.append(object) }
        }
        unloadMembersOfSources()
        if missingRows == .markMissing {
            for object in missing.values {
                identityMap.markMissing(object)
                object.state.pointee.handler?.context?.changeCollector.noteMissing(object)
            }
        }
        // Called last, since an object may call the context.
        for object in filled { object.withLifecycle?.awakeFromFetch() }
        return Array(missing.values)
    }
}

extension GraphObject {
    /// Takes a row that was read again.
    ///
    /// - Returns: whether the row has filled the object, which was a fault.
    fileprivate func reload(_ row: Row, _ changedObjects: ObjectLoader.ChangedObjects) -> Bool {
        switch changedObjects {
        case .becomeOutdated: return adopt(refetched: row)
        case .keepKeysOfDeleted: return adopt(refetched: keepingKeysOfDeleted(in: row))
        case .takeRow:
            guard isOfEntity(row) else { return false }
            let wasFault = isFault
            replaceRow(by: row)
            state.pointee.flags.remove(.outdated)
            return wasFault
        case .takeRowOfSameVersion:
            guard isOfEntity(row), lastRow?.version == row.version else { return false }
            let wasFault = isFault
            replaceRow(by: row)
            return wasFault
        }
    }
}

extension GraphObject {
    /// A later row of the object, with the keys of the last row that lead to deleted objects.
    fileprivate func keepingKeysOfDeleted(in later: Row) -> Row {
        guard let last = lastRow, let identityMap = state.pointee.handler?.context?.identityMap else { return later }
        var kept = SlotSet()
        for relationship in entity.relationships
        where !relationship.isToMany && last.hasValue(at: relationship.slot) && later.isNull(at: relationship.slot) {
            let key = last.integer(at: relationship.slot)
            guard key > 0, identityMap.object(forKey: key, of: relationship.destination)?.life.isMissing ?? false
            else { continue }
            kept.insert(relationship.slot)
        }
        return kept.isEmpty ? later : later.taking(last) { kept.contains($0) }
    }
}
