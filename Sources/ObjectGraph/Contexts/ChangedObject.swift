/// An object in a context's list of changes, with the place of its state: going through a list asks no object for it.
struct ChangedObject {
    let object: any GraphObject
    let state: UnsafeMutablePointer<ObjectState>

    init(_ object: any GraphObject) {
        self.object = object
        state = object.state
    }
}

/// The new, changed and deleted objects of a context.
struct ChangeList {
    /// The objects in the order of their first change, among them some that are not changed any more: their flags tell.
    private(set) var entries: [ChangedObject] = []
    /// How many of them are changed.
    private(set) var count = 0
    /// How many times objects were added; never less than before.
    private(set) var additions = 0
    /// What an object of the list has among its flags as long as it is changed.
    let mark: ObjectFlags
    /// What it has among its flags as long as it is in the list.
    let listed: ObjectFlags

    init(mark: ObjectFlags, listed: ObjectFlags) {
        self.mark = mark
        self.listed = listed
    }

    /// The changed objects.
    var objects: [any GraphObject] { entries.lazy.filter { $0.state.pointee.flags.contains(mark) }.map(\.object) }

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
    }

    /// Empties the list and gives its objects away, their flags reset.
    mutating func removeAll() -> [ChangedObject] {
        let all = entries
        entries = []
        count = 0
        for entry in all { entry.state.pointee.flags.subtract([mark, listed, .deletePropagated, .deletedByCascade]) }
        return all
    }
}
