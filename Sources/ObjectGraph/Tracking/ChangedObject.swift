/// An object in a context's list of changes, with the place of its state: going through a list asks no object for it.
struct ChangedObject {
    /// The object, never nil. A reference that cannot be nil Swift for Linux takes for shared at all times.
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

    /// The object, of which only the reference is known.
    var reference: AnyObject { counted.unsafelyUnwrapped }

    /// Whether nobody but the list refers to the object.
    mutating func isOnlyReference() -> Bool { isKnownUniquelyReferenced(&counted) }
}

/// The new, changed and deleted objects of a context.
struct ChangeList {
    /// The objects in the order of their first change, among them some that are not changed any more: their flags tell.
    private(set) var entries: [ChangedObject] = []
    /// How many of them are changed.
    private(set) var count = 0
    /// How many times objects were added; never less than before.
    private(set) var additions = 0
    /// How many times objects were removed.
    private var removals = 0
    /// What an object of the list has among its flags as long as it is changed.
    let mark: ObjectFlags
    /// What it has among its flags as long as it is in the list.
    let listed: ObjectFlags

    init(mark: ObjectFlags, listed: ObjectFlags) {
        self.mark = mark
        self.listed = listed
    }

    /// Tells whether the list has changed: whatever is done to it gives it another stamp.
    struct Stamp: Equatable {
        fileprivate let additions: Int
        fileprivate let removals: Int
    }

    var stamp: Stamp { Stamp(additions: additions, removals: removals) }

    /// The changed objects.
    var objects: [any GraphObject] { entries.lazy.filter { $0.state.pointee.flags.contains(mark) }.map(\.object) }

    /// The entries of the changed objects.
    var changed: [ChangedObject] {
        count == entries.count ? entries : entries.filter { $0.state.pointee.flags.contains(mark) }
    }

    /// Calls `body` with the objects in their place: to take an entry out and put it back would cost as much as the rest.
    func withEntries<R>(_ body: (UnsafeBufferPointer<ChangedObject>) throws -> R) rethrows -> R {
        try entries.withUnsafeBufferPointer(body)
    }

    /// The same, to ask whether anybody else refers to an object.
    mutating func withMutableEntries<R>(
        _ body: (UnsafeMutableBufferPointer<ChangedObject>) throws -> R
    ) rethrows -> R {
        try entries.withUnsafeMutableBufferPointer { try body($0) }
    }

    /// Takes note of a change; the object must not be marked.
    mutating func add(_ object: any GraphObject) {
        let state = object.state
        state.pointee.flags.insert(mark)
        count += 1
        additions += 1
        if !state.pointee.flags.contains(listed) {
            state.pointee.flags.insert(listed)
            entries.append(ChangedObject(object))
        }
    }

    /// Forgets a change; the object must be marked.
    mutating func remove(_ object: any GraphObject) {
        object.state.pointee.flags.remove(mark)
        count -= 1
        removals += 1
    }

    /// Gives those objects away for which `isRemoved` holds, their flags reset.
    mutating func removeAll(where isRemoved: (ChangedObject) -> Bool) -> [ChangedObject] {
        var removed: [ChangedObject] = []
        var rest: [ChangedObject] = []
        for entry in entries {
            guard isRemoved(entry) else {
                rest.append(entry)
                continue
            }
            if entry.state.pointee.flags.contains(mark) { count -= 1 }
            entry.state.pointee.flags.subtract([mark, listed, .deletePropagated, .deletedByCascade])
            removed.append(entry)
        }
        entries = rest
        removals += 1
        return removed
    }

    /// Empties the list and gives its objects away, their flags reset.
    mutating func removeAll() -> [ChangedObject] {
        withEntries { entries in
            for position in entries.indices {
                entries[position].state.pointee.flags.subtract([mark, listed, .deletePropagated, .deletedByCascade])
            }
        }
        let all = entries
        entries = []
        count = 0
        removals += 1
        return all
    }
}
