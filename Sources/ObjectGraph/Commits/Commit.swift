/// The changes of one or several commits, in the form in which contexts, live results and observers receive them.
///
/// Each cause of a commit makes one value: a save, a batch request, the history of other processes, an applied change set,
/// a replaced file.
package struct Commit: Sendable {
    /// The cause of a commit.
    package enum Origin: Equatable, Sendable {
        /// A context of the coordinator has saved.
        case save
        /// A context of the coordinator has executed a batch request, or a store has changed rows that a save did not
        /// contain.
        case batch
        /// Another coordinator, in this or another process, has committed, or a change set was applied.
        case others
        /// The file of a store may have been replaced by a copy from an earlier time, which other programs may have
        /// changed since. The objects of the unknown roots may have any values, whatever the versions of their rows.
        ///
        /// The store does not serve requests until the new file is open, so no observer is called before.
        case replacement(isOpen: Bool)
        /// The stores were erased.
        case erasure
        /// The parent has reverted or undone unsaved changes, or objects are read again.
        case revert
        /// An inbox has dropped commits because there were too many: any object may have changed.
        case overflow
    }

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
        /// The row after the change or, for a deleted object, the row before it; nil if it is unknown.
        package private(set) var row: Row?
        /// Whether the object was deleted, and then inserted again: the deletion has cleared references to it.
        package fileprivate(set) var hasReturned = false
        /// Whether only to-many relationships have changed, which the rows of other objects contain.
        private(set) var concernsMembersOnly = false

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
            concernsMembersOnly = true
        }

        /// Whether the object has a row after the change that is not known.
        var hasUnknownRow: Bool { row == nil && !concernsMembersOnly && kind != .deleted }

        /// Takes the known part of the row from an earlier change. A commit whose row is unknown may arrive before an
        /// earlier commit.
        fileprivate mutating func completeRow(after earlier: Change) {
            guard kind != .deleted, earlier.kind != .deleted else { return }
            if hasUnknownRow || earlier.hasUnknownRow {
                row = nil
                concernsMembersOnly = false
            } else {
                row = row ?? earlier.row
                concernsMembersOnly = row == nil
            }
        }
    }

    /// The changes of the objects that share a root entity.
    package struct Root: Sendable {
        /// The changes by primary key.
        package var objects: [Int64: Change] = [:]
        /// The slots that may have changed in any object.
        package var slotsOfAnyObject = SlotSet()
        /// Whether objects were inserted that ``objects`` does not contain.
        package var hasFurtherInsertions = false
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
            case (.inserted, .updated):
                merged.kind = .inserted
                merged.slots = nil
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

        fileprivate mutating func add(_ later: Root) {
            if objects.isEmpty {
                objects = later.objects
            } else {
                for (key, change) in later.objects { add(change, of: key) }
            }
            slotsOfAnyObject.formUnion(later.slotsOfAnyObject)
            hasFurtherInsertions = hasFurtherInsertions || later.hasFurtherInsertions
            isUnknown = isUnknown || later.isUnknown
        }
    }

    /// The cause.
    package private(set) var origin: Origin
    /// The number of the last transaction in the history of the store; nil if it is unknown, or the store has none.
    package var transaction: Int64?
    /// The changes, by the ``Entity/index`` of their root entities.
    package internal(set) var roots: [Int: Root] = [:]
    /// Whether any object of any entity may have changed.
    package internal(set) var isUnknown = false

    /// Makes a commit without changes.
    package init(_ origin: Origin) {
        self.origin = origin
    }

    /// A commit that may have changed any object.
    package static func unknown(_ origin: Origin) -> Commit {
        var commit = Commit(origin)
        commit.isUnknown = true
        return commit
    }

    /// Whether there are no changes.
    package var isEmpty: Bool { roots.isEmpty && !isUnknown }

    /// The number of objects that are named.
    var count: Int { roots.values.reduce(0) { $0 + $1.objects.count } }

    /// The root entities with unknown changes, at their ``Entity/index``.
    var unknownRoots: Set<Int> { Set(roots.lazy.filter(\.value.isUnknown).map(\.key)) }

    /// Whether this is the replacement of a file.
    var isReplacement: Bool { if case .replacement = origin { true } else { false } }

    // MARK: Adding

    /// Adds a later change of an object.
    package mutating func add(_ change: Change, of key: Int64, entity: Entity) {
        roots[entity.rootIndex, default: Root()].add(change, of: key)
    }

    /// Adds a change of a slot in objects that are not known.
    package mutating func addSlotOfAnyObject(_ slot: Int, of entity: Entity) {
        roots[entity.rootIndex, default: Root()].slotsOfAnyObject.insert(slot)
    }

    /// Adds insertions of objects of an entity whose keys are not named.
    mutating func addInsertions(of entity: Entity) {
        roots[entity.rootIndex, default: Root()].hasFurtherInsertions = true
    }

    /// Adds unknown changes of any objects of an entity.
    package mutating func addUnknown(_ entity: Entity) { roots[entity.rootIndex, default: Root()].isUnknown = true }

    /// Adds unknown changes of any objects.
    package mutating func addUnknown() { isUnknown = true }

    /// Restricts unknown changes of any objects to the objects of some root entities: the objects of other stores stay
    /// as they are.
    mutating func restrictUnknown(to roots: some Sequence<Entity>) {
        isUnknown = false
        for root in roots { addUnknown(root) }
    }

    /// Adds the changes of a later commit.
    package mutating func add(_ later: Commit) {
        isUnknown = isUnknown || later.isUnknown
        for (rootIndex, root) in later.roots { roots[rootIndex, default: Root()].add(root) }
    }

    /// One commit with the effect of this commit and a later one; nil if they stay separate.
    ///
    /// A context that is not used for some time receives hundreds of commits of other processes as one.
    func merged(with later: Commit) -> Commit? {
        switch (origin, later.origin) {
        case (.others, .others), (.replacement, .replacement):
            var both = self
            both.origin = later.origin
            both.transaction = later.transaction
            both.add(later)
            return both
        // Its receiver reads the state of the stores after all later changes.
        case (.overflow, .save), (.overflow, .batch), (.overflow, .others), (.overflow, .revert),
            (.overflow, .overflow):
            return self
        default: return nil
        }
    }
}
