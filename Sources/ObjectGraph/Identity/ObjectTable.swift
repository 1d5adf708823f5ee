/// The registered objects of a context, by primary key: one table for each root entity.
///
/// The table retains its objects, and releases those without other references in sweeps. It sweeps when the number of
/// objects registered since the last sweep equals the number that the sweep left, which costs O(1) for each object. The
/// context retains objects with changes. Only ``reserve(_:)`` sweeps, never an insertion, since the `deinit` of a
/// released object may call the context.
///
/// Open addressing with linear probing. Eight neighbouring keys share a cache line, since rows that are fetched
/// together mostly have neighbouring keys. Objects with temporary keys are stored separately: see ``TemporaryObjects``.
/// The context retains them until they are saved or deleted, so that a sweep only looks at the deleted objects among
/// them.
final class ObjectTable {
    private static let empty: Int64 = 0
    private static let removed = Int64.min
    private static let smallestCapacity = 16
    /// The number of neighbouring keys that have neighbouring slots.
    private static let blockSize = 8
    /// The minimum number of objects for a sweep.
    static let smallestSweep = 1024

    // No access to a property calls the program, so that dynamic exclusivity checks would only cost time.
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var keys: UnsafeMutablePointer<Int64>
    @exclusivity(unchecked) private var objects: UnsafeMutablePointer<AnyObject?>
    /// The ``Entity/index`` of each object.
    @exclusivity(unchecked) private var entities: UnsafeMutablePointer<UInt16>?
    /// The ``Entity/index`` of all objects if they can only belong to one entity: then `entities` is nil.
    private let onlyEntity: Int?
    /// The slots that are not empty: objects and removed objects.
    @exclusivity(unchecked) private var used = 0
    /// The number of objects with permanent keys.
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var temporary = TemporaryObjects()
    /// The temporary keys of objects that were deleted before a save. Some have been inserted again since, or have left
    /// the table.
    @exclusivity(unchecked) private var discarded: Set<Int64> = []
    @exclusivity(unchecked) private var sweepCount = ObjectTable.smallestSweep
    /// The arrays of objects of the table that the program read or changed last.
    @exclusivity(unchecked) var recentMembers = RecentMembers()
    /// The number of times that the table has released objects, whose addresses other objects may get: while the number
    /// is the same, each address belongs to the same object.
    @exclusivity(unchecked) private(set) var releases = 0

    /// Creates an empty table; `onlyEntity` is the index of the entity of all objects if there is only one.
    init(onlyEntity: Int? = nil) {
        self.onlyEntity = onlyEntity
        capacity = Self.smallestCapacity
        (keys, objects, entities) = Self.allocate(capacity, hasEntities: onlyEntity == nil)
    }

    deinit {
        let all = detachAll()
        // From here on, the table contains no object.
        Self.deallocate(keys, objects, entities)
        // Released last, since the `deinit` of an object may call the context.
        withExtendedLifetime(all) {}
    }

    /// An object with the index of its entity.
    struct Found {
        let object: AnyObject
        let entity: Int
    }

    /// The object with a key.
    @inline(__always)
    func object(forKey key: Int64) -> Found? {
        if key < 0 { return temporary.object(forKey: key) }
        let place = place(of: key)
        // The slot for key 0, which no object has, is any empty slot.
        guard place >= 0, let object = objects[place] else { return nil }
        return Found(object: object, entity: entity(at: place))
    }

    /// The object with a key, not retained: the caller must use it at once.
    @inline(__always)
    func borrowedObject(forKey key: Int64) -> (object: Unmanaged<AnyObject>, entity: Int)? {
        if key < 0 {
            return temporary.object(forKey: key).map { (Unmanaged.passUnretained($0.object), $0.entity) }
        }
        let place = place(of: key)
        guard place >= 0,
            let object = UnsafeRawPointer(objects + place).load(as: Unmanaged<AnyObject>?.self)
        else { return nil }
        return (object, entity(at: place))
    }

    /// Whether the table has an object with a key.
    func contains(_ key: Int64) -> Bool { borrowedObject(forKey: key) != nil }

    /// Adds an object; the table must have none with its key. Does not sweep: see ``reserve(_:)``.
    @inline(__always)
    func insert(_ object: AnyObject, forKey key: Int64, entity: Int) {
        if key < 0 { return temporary.insert(object, forKey: key, entity: entity) }
        // Slots of removed objects lengthen the probe sequences, so their number is limited.
        if 4 * (used + 1) > 3 * capacity || 4 * (used - count) > capacity {
            rebuild(capacity: Self.capacity(for: count + 1 + count / 2))
        }
        insertKnownNew(object, forKey: key, entity: entity)
    }

    /// Reserves capacity for `additional` objects with permanent keys, which stay referenced for a while, and sweeps if
    /// a sweep is due.
    func reserve(_ additional: Int) {
        if count + discarded.count + additional > sweepCount {
            sweep(reserving: additional)
            sweepCount = max(sweepCount, count + discarded.count + additional + Self.smallestSweep)
        }
        if 4 * (used + additional) > 3 * capacity {
            rebuild(capacity: Self.capacity(for: count + max(additional, count / 2)))
        }
    }

    /// Releases the object with a key.
    func remove(_ key: Int64) {
        _ = recentMembers.removeAll()
        releases &+= 1
        if key < 0 { return temporary.remove(key) }
        let place = place(of: key)
        guard place >= 0, let object = objects[place] else { return }
        objects[place] = nil
        keys[place] = Self.removed
        count -= 1
        withExtendedLifetime(object) {}
    }

    /// Records that the new object with a key was deleted, so that a sweep releases it if it has no other references.
    func noteDiscarded(_ key: Int64) {
        if key < 0 { discarded.insert(key) }
    }

    /// Replaces an object without other references by another object of the same entity.
    ///
    /// - Returns: the replaced object; nil if it has other references, or does not exist.
    func replaceUnused(_ key: Int64, with object: AnyObject) -> AnyObject? {
        _ = recentMembers.removeAll()
        let place = place(of: key)
        guard place >= 0, isKnownUniquelyReferenced(&objects[place]) else { return nil }
        releases &+= 1
        let replaced = objects[place]
        objects[place] = object
        return replaced
    }

    /// All objects.
    var all: [Found] {
        temporary.all
            + (0..<capacity).compactMap { place in
                objects[place].map { Found(object: $0, entity: entity(at: place)) }
            }
    }

    /// Releases the objects without other references, and reserves capacity for further objects.
    func sweep(reserving additional: Int = 0) {
        // Released first, since their references do not count.
        _ = recentMembers.removeAll()
        var dead = removeDiscarded()
        let discardedCount = dead.count
        for place in 0..<capacity where isKnownUniquelyReferenced(&objects[place]) {
            guard let object = (objects + place).move() else { continue }
            dead.append(object)
            (objects + place).initialize(to: nil)
            keys[place] = Self.removed
        }
        count -= dead.count - discardedCount
        sweepCount = max(Self.smallestSweep, 2 * (count + discarded.count))
        if !dead.isEmpty { releases &+= 1 }
        if dead.count > discardedCount { rebuild(capacity: Self.capacity(for: count + additional)) }
        // Released last, since the `deinit` of an object may call this table.
        withExtendedLifetime(dead) {}
    }

    /// Removes and returns the discarded objects without other references.
    private func removeDiscarded() -> [AnyObject] {
        if discarded.isEmpty { return [] }
        let removed = discarded.compactMap { temporary.removeUnused($0) }
        discarded = discarded.filter { temporary.contains($0) }
        return removed
    }

    /// Removes and returns all objects.
    func removeAll() -> [AnyObject] {
        let all = detachAll()
        if capacity > Self.smallestCapacity { rebuild(capacity: Self.smallestCapacity) }
        sweepCount = Self.smallestSweep
        return all
    }

    // MARK: Slots

    @inline(__always)
    private func entity(at place: Int) -> Int { onlyEntity ?? Int(entities?[place] ?? 0) }

    @inline(__always)
    private func firstPlace(of key: Int64) -> Int {
        let bits = UInt64(bitPattern: key)
        let hash = (bits >> 3) &* 0x9E37_79B9_7F4A_7C15
        // The high word of the product is less than the number of blocks: no division, and any number of blocks is
        // possible.
        let block = hash.multipliedFullWidth(by: UInt64(capacity / Self.blockSize)).high
        return Int(block << 3 | bits & 7)
    }

    @inline(__always)
    private func next(_ place: Int) -> Int { place + 1 == capacity ? 0 : place + 1 }

    @inline(__always)
    private func place(of key: Int64) -> Int {
        var place = firstPlace(of: key)
        while true {
            let found = keys[place]
            if found == key { return place }
            if found == Self.empty { return -1 }
            place = next(place)
        }
    }

    @inline(__always)
    private func insertKnownNew(_ object: consuming AnyObject, forKey key: Int64, entity: Int) {
        assert(key != Self.empty && key != Self.removed, "this is no key of an object")
        var place = firstPlace(of: key)
        while keys[place] != Self.empty {
            assert(keys[place] != key, "an object with this key is there already")
            place = next(place)
        }
        keys[place] = key
        (objects + place).initialize(to: object)
        entities?[place] = UInt16(entity)
        used += 1
        count += 1
    }

    private func rebuild(capacity newCapacity: Int) {
        let old = (capacity, keys, objects, entities)
        capacity = newCapacity
        (keys, objects, entities) = Self.allocate(newCapacity, hasEntities: onlyEntity == nil)
        used = 0
        count = 0
        for place in 0..<old.0 {
            guard let object = (old.2 + place).move() else { continue }
            insertKnownNew(object, forKey: old.1[place], entity: Int(old.3?[place] ?? 0))
        }
        Self.deallocate(old.1, old.2, old.3)
    }

    private func detachAll() -> [AnyObject] {
        releases &+= 1
        var all = temporary.removeAll() + recentMembers.removeAll()
        for place in 0..<capacity {
            if let object = objects[place] { all.append(object) }
            objects[place] = nil
            keys[place] = Self.empty
        }
        used = 0
        count = 0
        discarded = []
        return all
    }

    /// A capacity of which the objects use three fifths.
    private static func capacity(for count: Int) -> Int {
        max(smallestCapacity, (count * 5 / 3 / blockSize + 1) * blockSize)
    }

    private static func allocate(
        _ capacity: Int,
        hasEntities: Bool
    ) -> (UnsafeMutablePointer<Int64>, UnsafeMutablePointer<AnyObject?>, UnsafeMutablePointer<UInt16>?) {
        let keys = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
        keys.initialize(repeating: empty, count: capacity)
        let objects = UnsafeMutablePointer<AnyObject?>.allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
        let entities = hasEntities ? UnsafeMutablePointer<UInt16>.allocate(capacity: capacity) : nil
        entities?.initialize(repeating: 0, count: capacity)
        return (keys, objects, entities)
    }

    /// Deallocates memory without objects.
    private static func deallocate(
        _ keys: UnsafeMutablePointer<Int64>,
        _ objects: UnsafeMutablePointer<AnyObject?>,
        _ entities: UnsafeMutablePointer<UInt16>?
    ) {
        keys.deallocate()
        objects.deallocate()
        entities?.deallocate()
    }
}
