import Guarded

/// Objects that all parts of the process with the same key share: one for each key, as long as anything retains it.
struct SharedObjects<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
    private struct Entry {
        weak var object: Object?
        let identifier: ObjectIdentifier
    }

    private let entries = Guarded<[Key: Entry]>([:])

    /// The object with a key, which `make` makes if there is none. A caller retains the object while it uses it.
    func object(for key: Key, _ make: () -> Object) -> Object {
        entries.withLock { entries in
            // Not by optional chaining, which Swift 6.3 compiles wrongly for a weak reference if it does not optimize.
            if let entry = entries[key], let object = entry.object { return object }
            let object = make()
            entries[key] = Entry(object: object, identifier: ObjectIdentifier(object))
            return object
        }
    }

    /// Removes an object that is being deallocated.
    func remove(_ identifier: ObjectIdentifier, key: Key) {
        entries.withLock { entries in
            // A new object may have taken the key already. Reading its weak reference could release it under the lock.
            if let entry = entries[key], entry.identifier == identifier { entries[key] = nil }
        }
    }
}
