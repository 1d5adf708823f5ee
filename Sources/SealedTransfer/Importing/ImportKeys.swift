import ObjectGraph
import SealedStore

/// The keys of the objects of an import: identifiers of the source that become keys, the keys of identifiers that were
/// met before, and new keys.
struct ImportKeys {
    private let model: ManagedObjectModel
    private let transaction: ImportTransaction
    private let records: IdentifierTable.Records

    /// The root entities, by index, whose identifiers become keys: no key has been reserved for them, and their
    /// identifiers in the source are whole numbers. So objects keep their order, and references need no table.
    private var keptRoots: Set<Int> = []
    /// The largest identifier that became a key, by the index of the root entity.
    private var largestKeptKeys: [Int: Int64] = [:]
    /// The unused part of the reserved keys, by the index of the root entity.
    private var supplies: [Int: Range<Int64>] = [:]
    /// The first key that the import has reserved, by the index of the root entity.
    private var firstNewKeys: [Int: Int64] = [:]

    /// The identifiers that become keys. New keys, for objects with other identifiers, begin behind this range.
    private static let keptKeys: ClosedRange<Int64> = 1...(1 << 40)
    private static let keysAtOnce = 512

    init(_ model: ManagedObjectModel, _ transaction: ImportTransaction, _ records: IdentifierTable.Records) {
        self.model = model
        self.transaction = transaction
        self.records = records
    }

    /// Finds the root entities whose identifiers become keys.
    mutating func keepIdentifiers(of source: any ImportSource) throws {
        for root in model.entities where root.isRoot {
            if try transaction.isUnused(root), try source.hasIntegerIDs(of: root) { keptRoots.insert(root.index) }
        }
    }

    /// The key that an identifier itself stands for; nil if the key has to be looked up.
    func keptKey(of id: ImportedID) -> Int64? {
        guard keptRoots.contains(id.space), case .integer(let key) = id.value, Self.keptKeys.contains(key) else {
            return nil
        }
        return key
    }

    /// Records that an object has the key for which its identifier stands.
    mutating func keep(_ key: Int64, of id: ImportedID) {
        largestKeptKeys[id.space] = max(key, largestKeptKeys[id.space] ?? 0)
    }

    /// The key of an identifier to which the source refers, reserved if the identifier is new.
    mutating func key(of id: ImportedID, _ entity: Entity) throws -> Int64 {
        if let key = keptKey(of: id) { return key }
        if let known = try records.find(id) { return known.key }
        let key = try newKey(of: entity)
        try records.set(id, key: key, .referenced)
        return key
    }

    mutating func newKey(of entity: Entity) throws -> Int64 {
        let root = model.root(of: entity)
        if let range = supplies[root.index], let key = range.first {
            supplies[root.index] = range.dropFirst()
            return key
        }
        if keptRoots.contains(root.index) {
            try transaction.advanceSequence(of: root, beyond: Self.keptKeys.upperBound)
        }
        let range = try transaction.reserveKeys(Self.keysAtOnce, of: root)
        supplies[root.index] = range.dropFirst()
        if firstNewKeys[root.index] == nil { firstNewKeys[root.index] = range.lowerBound }
        return range.lowerBound
    }

    /// Whether the import has reserved a key.
    func isNew(_ key: Int64, of entity: Entity) -> Bool { firstNewKeys[entity.rootIndex].map { key >= $0 } ?? false }

    /// Makes the store give keys behind the identifiers that became keys.
    func advanceSequences() throws {
        for (root, key) in largestKeptKeys { try transaction.advanceSequence(of: model.entities[root], beyond: key) }
    }
}
