/// The changes of a context's objects since its followers last received them: commits of this and other contexts, and
/// unsaved changes.
package struct ContextChanges {
    /// Whether and how the existence of an object has changed.
    enum Existence {
        /// The object exists before and after.
        case unchanged
        /// The object is new, or its insertion was saved: no relationship led to it before its insertion.
        case inserted
        /// The object may have been deleted, or may have returned after a deletion: relationships that led to it have
        /// another value, without a change of their own objects.
        case deletedOrReturned
    }

    /// The change of one registered object.
    package struct ObjectChange {
        /// The object.
        package let object: any GraphObject
        /// The slots that have changed.
        package internal(set) var slots: SlotSet
        /// Whether the object may have been inserted or deleted, or an insertion or deletion reverted or saved.
        package internal(set) var concernsExistence: Bool
    }

    /// The changes of the objects that share a root entity.
    package struct Root {
        /// The changes of registered objects.
        package internal(set) var objects: [ObjectIdentifier: ObjectChange] = [:]
        /// The committed changes of objects that are not registered, by primary key.
        package internal(set) var unregistered: [Int64: Commit.Change] = [:]
        /// The slots that have changed in an object of ``objects`` and ``unregistered``, or may have changed in other
        /// objects.
        package internal(set) var slots = SlotSet()
        /// The slots that may have changed in any object.
        package internal(set) var slotsOfAnyObject = SlotSet()
        /// The slots whose saved values were delivered before, as unsaved changes. They concern only followers of the
        /// saved state.
        package internal(set) var savedSlots = SlotSet()
        /// Whether objects were inserted or deleted.
        package internal(set) var concernsExistence = false
        /// Whether objects may have been deleted, or may have returned after a deletion.
        var concernsReferences = false
        /// Whether any object may have changed.
        package internal(set) var isUnknown = false

        mutating func add(_ existence: Existence) {
            if existence != .unchanged { concernsExistence = true }
            if existence == .deletedOrReturned { concernsReferences = true }
        }
    }

    /// The changes, by the ``Entity/index`` of their root entities.
    package internal(set) var roots: [Int: Root] = [:]
    /// Whether any object of any entity may have changed.
    package internal(set) var isUnknown = false

    /// Whether there are no changes.
    var isEmpty: Bool { roots.isEmpty && !isUnknown }

    /// Adds the change of a registered object.
    mutating func add(_ object: any GraphObject, _ slots: SlotSet, _ existence: Existence) {
        let id = ObjectIdentifier(object)
        var root = roots.removeValue(forKey: object.entity.rootIndex) ?? Root()
        root.objects[id, default: ObjectChange(object: object, slots: SlotSet(), concernsExistence: false)].slots
            .formUnion(slots)
        root.slots.formUnion(slots)
        if existence != .unchanged { root.objects[id]?.concernsExistence = true }
        root.add(existence)
        roots[object.entity.rootIndex] = root
    }
}
