/// Values by key, up to a limit. A new value takes the place of the value that has not been used for longest.
///
/// Threads share a cache as a `Guarded` value, see ``Guarded/value(for:make:)``.
///
/// Public for the same reason as ``Guarded``.
public struct BoundedCache<Key: Hashable, Value> {
    @usableFromInline struct Entry {
        @usableFromInline let value: Value
        @usableFromInline var lastUse: UInt64

        @inlinable
        init(_ value: Value, lastUse: UInt64) {
            self.value = value
            self.lastUse = lastUse
        }
    }

    @usableFromInline var entries: [Key: Entry] = [:]
    @usableFromInline var useCount: UInt64 = 0
    @usableFromInline let limit: Int

    /// Makes an empty cache.
    ///
    /// - Parameter limit: The largest number of values.
    @inlinable
    public init(limit: Int) {
        precondition(limit > 0, "A cache holds at least one value.")
        self.limit = limit
    }

    /// The number of values.
    @inlinable
    public var count: Int { entries.count }

    /// Returns the value for a key and counts that as a use; nil if the cache does not hold the key.
    @inlinable
    public mutating func value(for key: Key) -> Value? {
        guard let position = entries.index(forKey: key) else { return nil }
        useCount &+= 1
        entries.values[position].lastUse = useCount
        return entries.values[position].value
    }

    /// Whether the cache holds a key.
    @inlinable
    public func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// Adds a value. If the cache is full, the value that has not been used for longest is removed first.
    ///
    /// - Parameter isRemovable: Whether a value may be removed. If no value may, the cache grows beyond its limit.
    /// - Returns: The removed value, or nil.
    /// - Complexity: O(1), or O(limit) if the cache is full.
    @discardableResult
    @inlinable
    public mutating func insert(
        _ value: Value,
        for key: Key,
        removingWhere isRemovable: (Value) -> Bool = { _ in true }
    ) -> Value? {
        let removed = entries.count >= limit && entries[key] == nil ? removeOldest(where: isRemovable) : nil
        useCount &+= 1
        entries[key] = Entry(value, lastUse: useCount)
        return removed
    }

    @inlinable
    mutating func removeOldest(where isRemovable: (Value) -> Bool) -> Value? {
        var oldest: Dictionary<Key, Entry>.Index?
        for position in entries.indices where isRemovable(entries.values[position].value) {
            if let oldest, entries.values[oldest].lastUse < entries.values[position].lastUse { continue }
            oldest = position
        }
        return oldest.map { entries.remove(at: $0).value.value }
    }

    /// Removes all values.
    @inlinable
    public mutating func removeAll() { entries = [:] }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedCache.Entry: Sendable where Value: Sendable {}

extension Guarded {
    /// Returns the value for a key of a cache, or makes and adds it.
    ///
    /// `make` runs outside the lock: two threads may make a value for the same key at the same time.
    @inlinable
    public func value<Key: Hashable, Element, E: Error>(
        for key: Key,
        make: () throws(E) -> Element
    ) throws(E) -> Element where Value == BoundedCache<Key, Element> {
        if let known = withLock({ $0.value(for: key) }) { return known }
        let made = try make()
        withLock { _ = $0.insert(made, for: key) }
        return made
    }
}
