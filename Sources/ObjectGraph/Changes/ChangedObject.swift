/// An object in a context's list of changes, with the address of its state, so that iterating a list does not access
/// it.
struct ChangedObject {
    /// The object, never nil. Swift for Linux never considers a non-optional reference unique.
    private var counted: AnyObject?
    let state: UnsafeMutablePointer<ObjectState>

    init(_ object: any GraphObject) {
        counted = object
        state = object.state
    }

    /// The object.
    var object: any GraphObject {
        if let handler = state.pointee.handler { return handler.graphObject(reference) }
        guard let object = counted as? any GraphObject else { preconditionFailure("every listed object is one") }
        return object
    }

    var life: ObjectLife {
        @inline(__always) get { state.pointee.life }
    }

    /// The object, without its class.
    var reference: AnyObject { counted.unsafelyUnwrapped }

    /// Whether only the list refers to the object.
    mutating func isOnlyReference() -> Bool { isKnownUniquelyReferenced(&counted) }
}

/// The new, changed and deleted objects of a context.
struct ChangeList {
    /// The objects in the order of their first change, including objects that are no longer changed: see `life`.
    private(set) var entries: [ChangedObject] = []
    /// The number of changed objects.
    private(set) var count = 0
    /// The number of times that objects were added.
    private(set) var additions = 0
    /// The number of times that objects were removed.
    private var removals = 0
    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// The kind of change that a list collects.
    enum Kind {
        case inserted, updated, deleted

        /// Whether an object in a state has the kind of change.
        @inline(__always)
        func contains(_ life: ObjectLife) -> Bool {
            switch self {
            case .inserted: life.isInserted
            case .updated: life.isUpdated
            case .deleted: life.isDeleted
            }
        }

        /// The flag of the objects in the list.
        var listed: ObjectFlags {
            switch self {
            case .inserted: .listedAsInserted
            case .updated: .listedAsUpdated
            case .deleted: .listedAsDeleted
            }
        }
    }

    /// A value that differs after every change of the list.
    struct Stamp: Equatable {
        fileprivate let additions: Int
        fileprivate let removals: Int
    }

    var stamp: Stamp { Stamp(additions: additions, removals: removals) }

    /// The changed objects.
    var objects: [any GraphObject] { entries.lazy.filter { kind.contains($0.life) }.map(\.object) }

    /// The entries of the changed objects.
    var changed: [ChangedObject] {
        count == entries.count ? entries : entries.filter { kind.contains($0.life) }
    }

    /// Calls `body` with the entries in place: copying an entry would cost as much as the rest.
    func withEntries<R>(_ body: (UnsafeBufferPointer<ChangedObject>) throws -> R) rethrows -> R {
        try entries.withUnsafeBufferPointer(body)
    }

    /// Calls `body` with the entries in place, to check whether an object has other references.
    mutating func withMutableEntries<R>(
        _ body: (UnsafeMutableBufferPointer<ChangedObject>) throws -> R
    ) rethrows -> R {
        try entries.withUnsafeMutableBufferPointer { try body($0) }
    }

    /// Adds an object with a new change. The object must not have a change of the list's kind.
    mutating func add(_ object: any GraphObject) {
        let state = object.state
        switch kind {
        case .inserted: state.pointee.life.insert()
        case .updated: state.pointee.life.update()
        case .deleted: state.pointee.life.delete()
        }
        count += 1
        additions += 1
        if !state.pointee.flags.contains(kind.listed) {
            state.pointee.flags.insert(kind.listed)
            entries.append(ChangedObject(object))
        }
    }

    /// Drops the change of an object. The object must have a change of the list's kind.
    mutating func remove(_ object: any GraphObject) {
        assert(kind.contains(object.life), "the object has no change of this kind")
        object.life.revert()
        count -= 1
        removals += 1
    }

    /// Drops the insertion of an object that is deleted.
    mutating func discard(_ object: any GraphObject) {
        object.life.discard()
        count -= 1
        removals += 1
    }

    /// Removes and returns the entries for which `isRemoved` returns true, with their flags reset.
    mutating func removeAll(where isRemoved: (ChangedObject) -> Bool) -> [ChangedObject] {
        var removed: [ChangedObject] = []
        var rest: [ChangedObject] = []
        for entry in entries {
            guard isRemoved(entry) else {
                rest.append(entry)
                continue
            }
            unlist(entry.state)
            removed.append(entry)
        }
        entries = rest
        count = rest.count { kind.contains($0.life) }
        removals += 1
        return removed
    }

    /// Empties the list and returns its entries, with their flags reset.
    mutating func removeAll() -> [ChangedObject] {
        withEntries { entries in
            for position in entries.indices {
                unlist(entries[position].state)
            }
        }
        let all = entries
        entries = []
        count = 0
        removals += 1
        return all
    }

    /// Drops the change of an entry that leaves the list, unless it has been saved.
    @inline(__always)
    private func unlist(_ state: UnsafeMutablePointer<ObjectState>) {
        if kind.contains(state.pointee.life) { state.pointee.life.revert() }
        state.pointee.flags.subtract([kind.listed, .deletePropagated, .deletedByCascade])
    }
}
