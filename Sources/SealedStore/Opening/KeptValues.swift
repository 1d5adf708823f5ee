import Guarded

/// What takes long to make, kept for the next store that needs the same.
final class KeptValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How many are kept; when there are more, it begins anew.
    private static var limit: Int { 16 }

    private let values = Guarded<[Key: Value]>([:])

    /// The value for a key, made where it is not known.
    func value(for key: Key, make: () throws -> Value) rethrows -> Value {
        if let known = values.withLock({ $0[key] }) { return known }
        let value = try make()
        values.withLock { values in
            if values.count >= Self.limit { values.removeAll() }
            values[key] = value
        }
        return value
    }
}
