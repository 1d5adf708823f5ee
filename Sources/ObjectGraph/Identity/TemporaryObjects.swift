/// The objects of an ``ObjectTable`` that have temporary keys.
///
/// Temporary keys are assigned in sequence, and objects are mostly added and removed in their order, so they are stored
/// in blocks of neighbouring keys: adding many objects hashes no keys and moves no objects.
struct TemporaryObjects: ~Copyable {
    /// The objects of as many keys as a word has bits.
    private final class Block {
        // By pointers, not in arrays: no access calls the program, so dynamic exclusivity checks would only cost time.
        let objects = UnsafeMutablePointer<AnyObject?>.allocate(capacity: Block.size)
        let entities = UnsafeMutablePointer<UInt16>.allocate(capacity: Block.size)
        @exclusivity(unchecked) var count = 0

        static let size = 64

        init() {
            objects.initialize(repeating: nil, count: Block.size)
            entities.initialize(repeating: 0, count: Block.size)
        }

        deinit {
            objects.deinitialize(count: Block.size)
            objects.deallocate()
            entities.deallocate()
        }
    }

    private var blocks: [Int64: Block] = [:]
    /// The number of the block that was added last. It stays when it becomes empty, since the next keys are in it.
    private var newest: Int64?
    /// The most recently used block, and its number. It is not retained: `blocks` retains it.
    private var recent: (number: Int64, block: Unmanaged<Block>)?

    /// The object with a key.
    mutating func object(forKey key: Int64) -> ObjectTable.Found? {
        let place = place(of: key)
        return block(of: key)?._withUnsafeGuaranteedRef { block in
            block.objects[place].map { ObjectTable.Found(object: $0, entity: Int(block.entities[place])) }
        }
    }

    /// Whether there is an object with a key.
    mutating func contains(_ key: Int64) -> Bool {
        let place = place(of: key)
        return block(of: key)?._withUnsafeGuaranteedRef { $0.objects[place] != nil } ?? false
    }

    /// Adds an object; the key must be unused.
    mutating func insert(_ object: AnyObject, forKey key: Int64, entity: Int) {
        let place = place(of: key)
        (block(of: key) ?? addBlock(for: key))._withUnsafeGuaranteedRef { block in
            assert(block.objects[place] == nil, "an object with this key is there already")
            (block.objects + place).initialize(to: object)
            block.entities[place] = UInt16(entity)
            block.count += 1
        }
    }

    private mutating func addBlock(for key: Int64) -> Unmanaged<Block> {
        if let newest, blocks[newest]?.count == 0 { blocks[newest] = nil }
        newest = number(of: key)
        let block = Block()
        blocks[number(of: key)] = block
        recent = (number(of: key), Unmanaged.passUnretained(block))
        return Unmanaged.passUnretained(block)
    }

    /// Releases the object with a key.
    mutating func remove(_ key: Int64) {
        // Released last, since the `deinit` of an object may call the table.
        withExtendedLifetime(take(key)) {}
    }

    /// Removes and returns the object with a key if it has no other references.
    mutating func removeUnused(_ key: Int64) -> AnyObject? {
        let place = place(of: key)
        let isUnused = block(of: key)?._withUnsafeGuaranteedRef { isKnownUniquelyReferenced(&$0.objects[place]) }
        return isUnused ?? false ? take(key) : nil
    }

    /// Removes and returns the object with a key.
    @inline(__always)
    private mutating func take(_ key: Int64) -> AnyObject? {
        let place = place(of: key)
        let removed: AnyObject? = block(of: key)?._withUnsafeGuaranteedRef { block in
            guard let object = (block.objects + place).move() else {
                (block.objects + place).initialize(to: nil)
                return nil
            }
            (block.objects + place).initialize(to: nil)
            block.count -= 1
            return object
        }
        if removed != nil, number(of: key) != newest, block(of: key)?._withUnsafeGuaranteedRef({ $0.count }) == 0 {
            blocks[number(of: key)] = nil
            recent = nil
        }
        return removed
    }

    /// All objects, the oldest first.
    var all: [ObjectTable.Found] {
        blocks.sorted { $0.key < $1.key }.flatMap { _, block in
            (0..<Block.size).compactMap { place in
                block.objects[place].map { ObjectTable.Found(object: $0, entity: Int(block.entities[place])) }
            }
        }
    }

    /// Removes and returns all objects.
    mutating func removeAll() -> [AnyObject] {
        let all = all.map(\.object)
        blocks = [:]
        newest = nil
        recent = nil
        return all
    }

    private mutating func block(of key: Int64) -> Unmanaged<Block>? {
        let number = number(of: key)
        if let recent, recent.number == number { return recent.block }
        guard let block = blocks[number] else { return nil }
        recent = (number, Unmanaged.passUnretained(block))
        return Unmanaged.passUnretained(block)
    }

    private func number(of key: Int64) -> Int64 { ~key >> 6 }

    private func place(of key: Int64) -> Int { Int(~key & 63) }
}
