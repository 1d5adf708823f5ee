import ObjectGraph

/// The keys of the destinations that a save writes, and of the rows that it inserts.
struct WrittenKeys {
    /// The keys of destinations of each entity, at its `Entity.index`, in any order.
    private var keys: [[Int64]]
    private let model: ManagedObjectModel
    private let request: SaveChangesRequest

    /// Collects the keys in inserted rows and in changed slots. Of equal successive keys only one is collected: rows
    /// with the same destination are mostly adjacent.
    init(_ request: SaveChangesRequest, _ store: OpenStore) {
        model = store.schema.model
        self.request = request
        keys = Array(repeating: [], count: model.entities.count)
        let toOnes = store.statements.toOnes
        for chunk in request.inserted.chunks { addKeys(of: chunk, toOnes) }
        addChangedKeys(toOnes)
        for change in request.memberships where !change.added.isEmpty {
            keys[change.relationship.source.index].append(change.owner)
            keys[change.relationship.destination.index] += change.added
        }
    }

    /// Whether a save may write the key of a destination.
    static func mayBe(in request: SaveChangesRequest, _ statements: EntityStatements) -> Bool {
        if !request.memberships.isEmpty { return true }
        for chunk in request.inserted.chunks {
            for index in 0..<chunk.rowCount where !statements.toOnes[chunk.row(at: index).entityIndex].isEmpty {
                return true
            }
        }
        var position = 0
        for chunk in request.updated.chunks {
            for index in 0..<chunk.rowCount where position < request.updates.count {
                let slots = statements.toOneSlots[chunk.row(at: index).entityIndex]
                if !slots.isDisjoint(with: request.updates[position].slots) { return true }
                position += 1
            }
        }
        return false
    }

    private mutating func addKeys(of chunk: RowChunk, _ toOnes: [[Relationship]]) {
        var start = 0
        while start < chunk.rowCount {
            let entityIndex = chunk.row(at: start).entityIndex
            var end = start + 1
            while end < chunk.rowCount, chunk.row(at: end).entityIndex == entityIndex { end += 1 }
            for relationship in toOnes[entityIndex] {
                let slot = relationship.slot
                var last: Int64 = 0
                // The array is moved, so that it is not copied.
                var destinations: [Int64] = []
                swap(&destinations, &keys[relationship.destination.index])
                for index in start..<end {
                    let key = chunk.row(at: index).integer(at: slot)
                    if key != last, key != 0 { destinations.append(key) }
                    last = key
                }
                swap(&destinations, &keys[relationship.destination.index])
            }
            start = end
        }
    }

    private mutating func addChangedKeys(_ toOnes: [[Relationship]]) {
        var position = 0
        for chunk in request.updated.chunks {
            for index in 0..<chunk.rowCount where position < request.updates.count {
                defer { position += 1 }
                let row = chunk.row(at: index)
                if toOnes[row.entityIndex].isEmpty { continue }
                for relationship in toOnes[row.entityIndex]
                where request.updates[position].slots.contains(relationship.slot) {
                    let key = row.integer(at: relationship.slot)
                    if key != 0 { keys[relationship.destination.index].append(key) }
                }
            }
        }
    }

    /// The keys of destinations that the save does not insert itself, ascending, by the entity of the destination.
    func keysToFind() -> [(entity: Entity, keys: [Int64])] {
        keys.indices.compactMap { index in
            guard !keys[index].isEmpty else { return nil }
            let entity = model.entities[index]
            let keys = Self.distinct(keys[index], without: request.insertedKeys(of: entity, model))
            return keys.isEmpty ? nil : (entity, keys)
        }
    }

    /// The keys outside all ranges, each once, ascending.
    private static func distinct(_ keys: [Int64], without ranges: [Range<Int64>]) -> [Int64] {
        var distinct: [Int64] = []
        var position = 0
        for key in keys.sorted() where key != distinct.last {
            while position < ranges.count, ranges[position].upperBound <= key { position += 1 }
            if position < ranges.count, ranges[position].contains(key) { continue }
            distinct.append(key)
        }
        return distinct
    }

    /// The references to missing keys.
    ///
    /// - Parameter missing: The missing keys, by the position of the entity of the destination.
    func references(to missing: [Int: Set<Int64>], _ id: (Entity, Int64) -> ManagedObjectID) -> [WrittenReference] {
        var references: [WrittenReference] = []
        func add(_ relationship: Relationship, _ source: ManagedObjectID, _ key: Int64) {
            guard missing[relationship.destination.index]?.contains(key) ?? false else { return }
            references.append(
                .init(source: source, relationship: relationship, destination: id(relationship.destination, key))
            )
        }
        for row in request.inserted {
            let entity = model.entities[row.entityIndex]
            for relationship in entity.relationships where !relationship.isToMany {
                add(relationship, id(entity, row.key), row.integer(at: relationship.slot))
            }
        }
        for (row, update) in zip(request.updated, request.updates) {
            let entity = model.entities[row.entityIndex]
            for relationship in entity.relationships
            where !relationship.isToMany && update.slots.contains(relationship.slot) {
                add(relationship, id(entity, row.key), row.integer(at: relationship.slot))
            }
        }
        for change in request.memberships {
            for key in change.added { add(change.relationship, id(change.relationship.source, change.owner), key) }
        }
        return references
    }

    /// The owners of added members that the store does not have.
    func owners(among missing: [Int: Set<Int64>], _ id: (Entity, Int64) -> ManagedObjectID) -> [ManagedObjectID] {
        let owners = request.memberships.filter { change in
            !change.added.isEmpty && missing[change.relationship.source.index]?.contains(change.owner) ?? false
        }.map { id($0.relationship.source, $0.owner) }
        var seen: Set<ManagedObjectID> = []
        return owners.filter { seen.insert($0).inserted }
    }
}

extension SaveChangesRequest {
    /// The keys of the inserted rows of an entity and its subentities, ascending. Keys are reserved in blocks, so that
    /// they are few ranges.
    func insertedKeys(of entity: Entity, _ model: ManagedObjectModel) -> [Range<Int64>] {
        let isOfFamily = model.entities.map { $0.isKind(of: entity) }
        var ranges: [Range<Int64>] = []
        for chunk in inserted.chunks {
            for index in 0..<chunk.rowCount {
                let row = chunk.row(at: index)
                guard isOfFamily[row.entityIndex] else { continue }
                let key = row.key
                if let last = ranges.last, last.upperBound == key {
                    ranges[ranges.count - 1] = last.lowerBound..<key + 1
                } else {
                    ranges.append(key..<key + 1)
                }
            }
        }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }
    }
}
