/// The objects of an ``IdentityTable`` that have temporary keys.
///
/// Those are given out one after the other, and objects mostly come and go in their order, so they are kept in blocks of
/// neighbouring keys: to add many objects costs no hashing, and moves none of them.
struct TemporaryObjects: ~Copyable {
    /// The objects of as many keys as a word has bits.
    private final class Block {
        // Nothing in here calls anything that could come back while a property is accessed.
        @exclusivity(unchecked) var objects: [AnyObject?] = Array(repeating: nil, count: Block.size)
        @exclusivity(unchecked) var entities: [UInt16] = Array(repeating: 0, count: Block.size)
        @exclusivity(unchecked) var count = 0

        static let size = 64
    }

    private var blocks: [Int64: Block] = [:]
    /// The block that was used last, and its number.
    private var recent: (number: Int64, block: Block)?

    /// The object with a key.
    mutating func object(forKey key: Int64) -> IdentityTable.Found? {
        guard let block = block(of: key), let object = block.objects[place(of: key)] else { return nil }
        return IdentityTable.Found(object: object, entity: Int(block.entities[place(of: key)]))
    }

    /// Adds an object; there must be none with its key.
    mutating func insert(_ object: AnyObject, forKey key: Int64, entity: Int) {
        let block: Block
        if let known = self.block(of: key) {
            block = known
        } else {
            block = Block()
            blocks[number(of: key)] = block
            recent = (number(of: key), block)
        }
        assert(block.objects[place(of: key)] == nil, "an object with this key is there already")
        block.objects[place(of: key)] = object
        block.entities[place(of: key)] = UInt16(entity)
        block.count += 1
    }

    /// Lets go of the object with a key.
    mutating func remove(_ key: Int64) {
        guard let block = block(of: key), let object = block.objects[place(of: key)] else { return }
        block.objects[place(of: key)] = nil
        block.count -= 1
        if block.count == 0 {
            blocks[number(of: key)] = nil
            recent = nil
        }
        withExtendedLifetime(object) {}
    }

    /// All objects, the oldest first.
    var all: [IdentityTable.Found] {
        blocks.sorted { $0.key < $1.key }.flatMap { _, block in
            block.objects.indices.compactMap { place in
                block.objects[place].map { IdentityTable.Found(object: $0, entity: Int(block.entities[place])) }
            }
        }
    }

    /// Lets go of all objects and gives them away.
    mutating func removeAll() -> [AnyObject] {
        let all = all.map(\.object)
        blocks = [:]
        recent = nil
        return all
    }

    private mutating func block(of key: Int64) -> Block? {
        let number = number(of: key)
        if let recent, recent.number == number { return recent.block }
        guard let block = blocks[number] else { return nil }
        recent = (number, block)
        return block
    }

    private func number(of key: Int64) -> Int64 { ~key >> 6 }

    private func place(of key: Int64) -> Int { Int(~key & 63) }
}
