// The commits of saves and batch requests, and the changes that follow for objects that they do not name.

extension Commit {
    /// The commit of a save.
    ///
    /// - Parameter transaction: The number of the transaction in the history of the store; nil if it records none.
    init(_ request: SaveChangesRequest, _ transaction: Int64?, _ model: ManagedObjectModel) {
        self.init(.save)
        self.transaction = transaction
        if let first = request.inserted.first(where: { _ in true }) {
            // Most saves insert objects of one root entity.
            let root = model.entities[first.entityIndex].rootIndex
            roots[root, default: Root()].objects.reserveCapacity(request.inserted.count)
        }
        for row in request.inserted { add(Change(.inserted, row: row), of: row, model) }
        var updates = request.updates.makeIterator()
        for row in request.updated { add(Change(.updated, slots: updates.next()?.slots, row: row), of: row, model) }
        for deletion in request.deleted {
            add(Change(.deleted, row: deletion.row), of: deletion.key, entity: deletion.entity)
        }
        for change in request.memberships {
            let relationship = change.relationship
            add(Change(ofMembersAt: relationship.slot), of: change.owner, entity: relationship.source)
            guard let inverse = relationship.inverse else { continue }
            for key in change.added + change.removed {
                add(Change(ofMembersAt: inverse.slot), of: key, entity: inverse.source)
            }
        }
    }

    /// Commits that have given objects new rows; any slot may have changed.
    package init(updating rows: RowBatch, _ model: ManagedObjectModel) {
        self.init(.others)
        for row in rows { add(Change(.updated, row: row), of: row, model) }
    }

    private mutating func add(_ change: Change, of row: Row, _ model: ManagedObjectModel) {
        add(change, of: row.key, entity: model.entities[row.entityIndex])
    }

    /// The commit of a batch request about an entity.
    ///
    /// - Parameter slots: The slots of the updated objects that have changed; nil if any slot may have changed.
    init(_ batch: BatchChanges, of entity: Entity, changing slots: SlotSet?) {
        self.init(cleared: batch.cleared)
        if !batch.inserted.isEmpty { addInsertions(of: entity) }
        for list in batch.updated {
            for key in list.keys { add(Change(.updated, slots: slots), of: key, entity: list.entity) }
        }
        for list in batch.deleted {
            for key in list.keys { add(Change(.deleted), of: key, entity: list.entity) }
        }
        for relationship in batch.relationships {
            if let inverse = relationship.inverse { addSlotOfAnyObject(inverse.slot, of: inverse.source) }
        }
    }

    /// The commit of rows that a store has changed although the request does not contain them.
    init(cleared lists: [BatchChanges.Keys]) {
        self.init(.batch)
        for list in lists {
            for key in list.keys { add(Change(.updated, slots: list.slots), of: key, entity: list.entity) }
        }
    }

    // MARK: Consequences

    /// The changes of the objects of root entities, and the changes of to-many relationships to which the rows of
    /// changed objects lead.
    func withConsequences(_ model: ManagedObjectModel, for followed: Set<Int>) -> Commit {
        var result = Commit(origin)
        result.isUnknown = isUnknown
        result.roots = roots.filter { followed.contains($0.key) }
        for change in roots.values.lazy.flatMap(\.objects.values) {
            if let row = change.row { result.addConsequences(of: change, row, model, for: followed) }
        }
        return result
    }

    private mutating func addConsequences(
        of change: Change,
        _ row: Row,
        _ model: ManagedObjectModel,
        for followed: Set<Int>
    ) {
        if change.kind != .deleted {
            // The members of the inverse change with the reference, and the row does not name the owner that they
            // leave.
            for relationship in model.entities[row.entityIndex].relationships where !relationship.isToMany {
                guard change.slots?.contains(relationship.slot) ?? true, let inverse = relationship.inverse,
                    inverse.isToMany, followed.contains(inverse.source.rootIndex)
                else { continue }
                addSlotOfAnyObject(inverse.slot, of: inverse.source)
            }
        }
        addMembers(of: row, change.kind == .deleted ? nil : change.slots, model, of: followed)
    }

    /// Adds the changes of the to-many relationships that an object joins or leaves.
    ///
    /// - Parameters:
    ///   - row: The row of the object after it has joined these relationships, or before it leaves them.
    ///   - slots: The slots of the row that have changed; nil for all.
    ///   - roots: The root entities of the objects whose changes are added; nil for all.
    mutating func addMembers(
        of row: Row,
        _ slots: SlotSet?,
        _ model: ManagedObjectModel,
        of roots: Set<Int>? = nil
    ) {
        for relationship in model.entities[row.entityIndex].relationships where !relationship.isToMany {
            let slot = relationship.slot
            guard slots?.contains(slot) ?? true, let inverse = relationship.inverse, inverse.isToMany,
                roots?.contains(inverse.source.rootIndex) ?? true, row.hasValue(at: slot), row.integer(at: slot) > 0
            else { continue }
            add(Change(ofMembersAt: inverse.slot), of: row.integer(at: slot), entity: inverse.source)
        }
    }
}
