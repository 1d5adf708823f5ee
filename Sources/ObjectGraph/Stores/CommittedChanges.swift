/// The objects that one or more commits have changed, by their root entities.
package struct CommittedChanges: Sendable {
    /// The kind of an object's change.
    package enum Kind: Sendable {
        case inserted, updated, deleted
    }

    /// The change of one object.
    package struct Change: Sendable {
        /// The kind.
        package var kind: Kind
        /// The slots of an updated object that have changed; nil if any slot may have changed.
        package var slots: SlotSet?
        /// The row after the change; nil if it is unknown, or the object was deleted.
        package private(set) var row: Row?
        /// Whether the object was deleted, and then inserted again: the deletion has cleared references to it.
        package fileprivate(set) var hasReturned = false
        /// Whether the row is the one before the change: only to-many relationships have changed, which other rows
        /// contain.
        private var keepsRow = false

        /// Makes a change.
        package init(_ kind: Kind, slots: SlotSet? = nil, row: Row? = nil) {
            self.kind = kind
            self.slots = slots
            self.row = row
        }

        /// Makes the change of a to-many relationship.
        init(ofMembersAt slot: Int) {
            self.init(.updated)
            var slots = SlotSet()
            slots.insert(slot)
            self.slots = slots
            keepsRow = true
        }

        private var hasUnknownRow: Bool { row == nil && !keepsRow && kind != .deleted }

        /// Takes what is known of the row from an earlier change. A commit whose row is unknown may have been noticed
        /// before an earlier one.
        fileprivate mutating func completeRow(after earlier: Change) {
            guard kind != .deleted, earlier.kind != .deleted else { return }
            if hasUnknownRow || earlier.hasUnknownRow {
                row = nil
                keepsRow = false
            } else {
                row = row ?? earlier.row
                keepsRow = row == nil
            }
        }
    }

    /// The changes of the objects that share a root entity.
    package struct Root: Sendable {
        /// The changes by primary key.
        package var objects: [Int64: Change] = [:]
        /// The slots that may have changed in any object.
        package var slotsOfAnyObject = SlotSet()
        /// Whether any object may have been inserted, updated or deleted.
        package var isUnknown = false

        /// Makes an empty list of changes.
        package init() {}

        /// Adds a later change of an object.
        package mutating func add(_ change: Change, of key: Int64) {
            guard let known = objects[key] else {
                objects[key] = change
                return
            }
            var merged = change
            switch (known.kind, change.kind) {
            // The members of a deleted object are deleted in the same commit.
            case (.deleted, .updated): return
            case (.inserted, .updated): merged.kind = .inserted
            // The object has changed as a whole.
            case (.deleted, .inserted):
                merged = Change(.updated, row: change.row)
                merged.hasReturned = true
            default: break
            }
            if known.hasReturned, merged.kind != .deleted { merged.hasReturned = true }
            if merged.kind == .updated, change.kind == .updated {
                merged.slots = nil
                if let slots = change.slots, let earlier = known.slots {
                    merged.slots = slots
                    merged.slots?.formUnion(earlier)
                }
            }
            merged.completeRow(after: known)
            objects[key] = merged
        }
    }

    /// The changes, by the ``Entity/index`` of their root entities.
    package private(set) var roots: [Int: Root] = [:]
    /// Whether any object of any entity may have changed.
    package private(set) var isUnknown = false

    /// No changes.
    package init() {}

    /// Whether there are no changes.
    package var isEmpty: Bool { roots.isEmpty && !isUnknown }

    // MARK: Adding

    /// Adds a later change of an object.
    package mutating func add(_ change: Change, of key: Int64, entity: Entity) {
        roots[entity.rootIndex, default: Root()].add(change, of: key)
    }

    /// Adds a change of a slot in objects that are not known.
    package mutating func addSlotOfAnyObject(_ slot: Int, of entity: Entity) {
        roots[entity.rootIndex, default: Root()].slotsOfAnyObject.insert(slot)
    }

    /// Adds unknown changes of any objects of an entity.
    package mutating func addUnknown(_ entity: Entity) { roots[entity.rootIndex, default: Root()].isUnknown = true }

    /// Adds unknown changes of any objects.
    package mutating func addUnknown() { isUnknown = true }

    /// Adds the changes of a save.
    ///
    /// - Parameter roots: The root entities whose objects' changes are added.
    mutating func add(_ request: SaveChangesRequest, _ model: ManagedObjectModel, of roots: Set<Int>) {
        for row in request.inserted { add(Change(.inserted, row: row), model, row, of: roots) }
        var updates = request.updates.makeIterator()
        // A store that announces rows itself does not announce which slots have changed.
        for row in request.updated {
            add(Change(.updated, slots: updates.next()?.slots, row: row), model, row, of: roots)
        }
        for deletion in request.deleted {
            if let row = deletion.row { addMembers(of: row, nil, model, of: roots) }
            guard roots.contains(deletion.entity.rootIndex) else { continue }
            add(Change(.deleted), of: deletion.key, entity: deletion.entity)
        }
        for change in request.memberships {
            let relationship = change.relationship
            if roots.contains(relationship.source.rootIndex) {
                add(Change(ofMembersAt: relationship.slot), of: change.owner, entity: relationship.source)
            }
            guard let inverse = relationship.inverse, roots.contains(inverse.source.rootIndex) else { continue }
            for key in change.added + change.removed {
                add(Change(ofMembersAt: inverse.slot), of: key, entity: inverse.source)
            }
        }
    }

    private mutating func add(_ change: Change, _ model: ManagedObjectModel, _ row: Row, of roots: Set<Int>) {
        let entity = model.entities[row.entityIndex]
        if roots.contains(entity.rootIndex) { add(change, of: row.key, entity: entity) }
        // The members of the inverse change with the reference, and the row does not name the previous owner.
        for relationship in entity.relationships where !relationship.isToMany {
            guard change.slots?.contains(relationship.slot) ?? true, let inverse = relationship.inverse,
                inverse.isToMany, roots.contains(inverse.source.rootIndex)
            else { continue }
            addSlotOfAnyObject(inverse.slot, of: inverse.source)
        }
        addMembers(of: row, change.slots, model, of: roots)
    }

    /// Adds the changes of the to-many relationships that an object joins or leaves.
    ///
    /// - Parameters:
    ///   - row: The row of the object after it has joined them, or before it leaves them.
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

    /// Adds the changes of a batch request.
    mutating func add(_ batch: BatchChanges, of entity: Entity) {
        if !batch.inserted.isEmpty { addUnknown(entity) }
        for list in batch.updated + batch.cleared {
            for key in list.keys { add(Change(.updated), of: key, entity: list.entity) }
        }
        for list in batch.deleted {
            for key in list.keys { add(Change(.deleted), of: key, entity: list.entity) }
        }
        for relationship in batch.relationships {
            if let inverse = relationship.inverse { addSlotOfAnyObject(inverse.slot, of: inverse.source) }
        }
    }

    /// Adds the later changes of an announcement.
    ///
    /// - Parameter roots: The root entities whose objects' changes in saves are added; others may be.
    mutating func add(_ announcement: Announcement, _ model: ManagedObjectModel, of roots: Set<Int>) {
        switch announcement {
        case .save(let request): add(request, model, of: roots)
        case .batch(let changes, let entity): add(changes, of: entity)
        case .external(let changes?): add(changes)
        case .external(nil), .replacement, .erasure, .revert, .overflow: addUnknown()
        }
    }

    /// Adds later changes.
    package mutating func add(_ later: CommittedChanges) {
        isUnknown = isUnknown || later.isUnknown
        for (rootIndex, root) in later.roots {
            for (key, change) in root.objects { roots[rootIndex, default: Root()].add(change, of: key) }
            roots[rootIndex, default: Root()].slotsOfAnyObject.formUnion(root.slotsOfAnyObject)
            if root.isUnknown { roots[rootIndex, default: Root()].isUnknown = true }
        }
    }
}
