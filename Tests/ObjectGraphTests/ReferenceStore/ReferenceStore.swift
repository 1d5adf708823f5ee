import Guarded
import Foundation
import ObjectGraph
import Synchronization

/// A store as simple as possible: dictionaries and loops.
final class ReferenceStore: FullStore {
    static let type = "Reference"

    let model: ManagedObjectModel
    let description: PersistentStoreDescription
    let backing: ReferenceBacking

    private init(_ description: PersistentStoreDescription, for model: ManagedObjectModel) {
        self.model = model
        self.description = description
        backing = .at(description.url)
    }

    static func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> ReferenceStore {
        ReferenceStore(description, for: model)
    }

    var metadata: StoreMetadata { StoreMetadata(uuid: backing.data.withLock { $0.uuid }, type: Self.type) }

    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try read(for: context) { try rows($0, keys($0, request), for: request) }
    }

    func execute(_ request: ObjectIDFetchRequest, with context: RequestContext) throws -> [ManagedObjectID] {
        let entity = request.objects.entity
        return try read(for: context) { data in
            try keys(data, request.objects).map { id($0, self.entity(of: $0, under: entity, data), data) }
        }
    }

    func execute(_ request: CountRequest, with context: RequestContext) throws -> Int {
        try read(for: context) { try keys($0, request.objects).count }
    }

    func execute(_ request: DictionaryFetchRequest, with context: RequestContext) throws -> DictionaryResults {
        try read(for: context) { try dictionaries($0, request) }
    }

    /// The store has no indexes.
    func execute(_ request: FullTextMatchRequest, with context: RequestContext) throws -> [StoredFullTextMatch] {
        throw FullTextError.noIndex(entity: request.request.entity.name, properties: [])
    }

    func execute(_ request: QueryPlanRequest, with context: RequestContext) throws -> QueryPlan {
        QueryPlan(statement: "", steps: [], indexes: [], scannedTables: [])
    }

    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? {
        read(for: context) { data in
            rows(data, [id.key], id.entity).first { _ in true }.map { IncrementalStoreNode(row: $0) }
        }
    }

    func newValuesForObjects(with ids: [ManagedObjectID], with context: RequestContext) throws -> RowBatch {
        guard let entity = ids.first?.entity else { return RowBatch() }
        return read(for: context) { rows($0, ids.map(\.key), entity) }
    }

    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: RequestContext
    ) throws -> RelationshipValue {
        read(for: context) { data in
            let ids = ReferenceQuery(data, model).members(of: relationship, id.key).map { key in
                self.id(key, entity(of: key, under: relationship.destination, data), data)
            }
            return relationship.isToMany ? .toMany(ids) : .toOne(ids.first)
        }
    }

    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        read(for: context) { data in
            var result = RelationshipRows()
            let members = ReferenceQuery(data, model).members(of: relationship, ofAll: ids.map(\.key))
            for id in ids { result.append(owner: id.key, members: members[id.key] ?? []) }
            result.rows = rows(data, Set(members.values.joined()).sorted(), relationship.destination)
            return result
        }
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        return backing.data.withLock { data in
            (0..<count).map { _ in
                data.lastKey += 1
                return id(data.lastKey, entity, data)
            }
        }
    }

    // MARK: Reading

    /// A copy of all data.
    private final class Generation: QueryGeneration {
        let store: ReferenceStore
        let data: ReferenceData

        init(_ store: ReferenceStore) {
            self.store = store
            data = store.backing.data.withLock { $0 }
        }
    }

    func currentQueryGeneration() throws -> (any QueryGeneration)? { Generation(self) }

    /// Passes the data that a context reads to `body`.
    private func read<R>(for context: RequestContext, _ body: (ReferenceData) throws -> R) rethrows -> R {
        for case let generation as Generation in context.generation?.generations ?? []
        where generation.store === self {
            return try body(generation.data)
        }
        return try body(backing.data.withLock { $0 })
    }

    func id(_ key: Int64, _ entity: Entity, _ data: ReferenceData) -> ManagedObjectID {
        ManagedObjectID(entity: entity, storeUUID: data.uuid, key: key)
    }

    private func entity(of key: Int64, under entity: Entity, _ data: ReferenceData) -> Entity {
        data.records[entity.rootName]?[key].flatMap { model.entitiesByName[$0.entity] } ?? entity
    }

    private func rows(_ data: ReferenceData, _ keys: [Int64], _ entity: Entity) -> RowBatch {
        var rows = RowBatchBuilder()
        for key in keys {
            guard let record = data.records[entity.rootName]?[key],
                let entity = model.entitiesByName[record.entity]
            else { continue }
            rows.begin(key: key, version: record.version, entity: entity.index, slotCount: entity.slotCount)
            for property in entity.properties { rows.set(record.values[property.name] ?? .null, at: property.slot) }
        }
        return rows.finish()
    }

    /// The rows of keys with the properties that the request reads.
    private func rows(_ data: ReferenceData, _ keys: [Int64], for request: FetchRequest) -> RowBatch {
        let all = rows(data, keys, request.entity)
        if request.readsAllProperties { return all }
        let read = Set(request.includesPropertyValues ? request.propertiesToFetch : [])
        var rows = RowBatchBuilder()
        for row in all {
            rows.append(row)
            for property in model.entities[row.entityIndex].properties where !read.contains(property) {
                if case .relationship(let relationship) = property, relationship.isToMany { continue }
                rows.setOmitted(at: property.slot)
            }
        }
        return rows.finish()
    }

    /// The keys of the objects that match a request, in its order.
    func keys(_ data: ReferenceData, _ request: FetchRequest) throws -> [Int64] {
        let query = ReferenceQuery(data, model)
        let root = request.entity.rootName
        var keys: [Int64] = []
        for (key, record) in data.records[root] ?? [:] {
            guard let entity = model.entitiesByName[record.entity] else { continue }
            guard request.includesSubentities ? entity.isKind(of: request.entity) : entity == request.entity else {
                continue
            }
            if let predicate = request.predicate, try !query.isTrue(predicate, [(root, key)]) { continue }
            keys.append(key)
        }
        var ranks: [Int64: [Value]] = [:]
        for key in keys { ranks[key] = try request.sort.map { try query.value($0.expression, [(root, key)]) } }
        keys.sort { left, right in
            for (position, sort) in request.sort.enumerated() {
                let order = ReferenceQuery.order(ranks[left]![position], ranks[right]![position])
                if order != 0 { return sort.ascending ? order < 0 : order > 0 }
            }
            return left < right
        }
        return Array(keys.dropFirst(request.offset).prefix(request.limit ?? .max))
    }

    private func dictionaries(_ data: ReferenceData, _ request: DictionaryFetchRequest) throws -> DictionaryResults {
        var all = FetchRequest(request.entity, predicate: request.predicate)
        all.includesSubentities = request.includesSubentities
        let rows = ReferenceDictionaries(query: ReferenceQuery(data, model), request: request)
        var results = DictionaryResults(for: request)
        for row in try rows.rows(keys(data, all)) { try results.append(row) }
        return results
    }

    // MARK: Saving

    func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        try save(request, with: context) {}
    }

    func save(
        _ changes: SaveChangesRequest,
        with context: RequestContext,
        beforeCommit: () throws -> Void
    ) throws -> SaveResult {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        try backing.data.withLock { data in
            let conflicts = conflicts(of: changes, data)
            if !conflicts.isEmpty { throw SaveConflict.outdated(conflicts) }
            var new = data
            write(changes.inserted, nil, &new)
            write(changes.updated, changes.updates, &new)
            for deletion in changes.deleted { new.records[deletion.entity.rootName]?[deletion.key] = nil }
            try requireOwners(of: changes.memberships, new)
            for change in changes.memberships { apply(change, &new) }
            let remaining = remainingReferences(to: changes.deleted, new)
            if !remaining.isEmpty { throw SaveConflict.remainingReferences(remaining) }
            delete(changes.deleted, &new)
            let touched = (Array(changes.inserted) + Array(changes.updated)).map { model.entities[$0.entityIndex] }
            try requireUniqueness(of: Set(touched), new)
            let dangling = danglingReferences(new)
            if !dangling.isEmpty { throw SaveConflict.missingDestinations(dangling) }
            try beforeCommit()
            data = new
        }
        return SaveResult()
    }

    func execute(_ request: EraseRequest, with context: RequestContext) throws {
        if description.isReadOnly { throw ObjectGraphError.storeIsReadOnly }
        backing.data.withLock { data in
            data.records = [:]
            data.pairs = [:]
            data.orders = [:]
        }
    }

    private func conflicts(of changes: SaveChangesRequest, _ data: ReferenceData) -> [ManagedObjectID] {
        var conflicts: [ManagedObjectID] = []
        for (row, update) in zip(changes.updated, changes.updates) {
            let entity = model.entities[row.entityIndex]
            if data.records[entity.rootName]?[row.key]?.version != update.previousVersion {
                conflicts.append(id(row.key, entity, data))
            }
        }
        for deletion in changes.deleted {
            let record = data.records[deletion.entity.rootName]?[deletion.key]
            if record == nil || deletion.row.map({ $0.version != record?.version }) == true {
                conflicts.append(id(deletion.key, deletion.entity, data))
            }
        }
        return conflicts
    }

    func write(_ rows: RowBatch, _ updates: [SaveChangesRequest.Update]?, _ data: inout ReferenceData) {
        for (position, row) in rows.enumerated() {
            let entity = model.entities[row.entityIndex]
            var record =
                data.records[entity.rootName]?[row.key] ?? .init(entity: entity.name, version: row.version, values: [:])
            record.version = row.version
            for property in entity.properties where updates?[position].slots.contains(property.slot) ?? true {
                record.values[property.name] = row.value(at: property.slot)
            }
            data.records[entity.rootName, default: [:]][row.key] = record
        }
    }

    /// Removes objects, and every reference to them.
    func delete(_ deletions: [SaveChangesRequest.Deletion], _ data: inout ReferenceData) {
        var deleted: [String: Set<Int64>] = [:]
        for deletion in deletions {
            deleted[deletion.entity.rootName, default: []].insert(deletion.key)
            data.records[deletion.entity.rootName]?[deletion.key] = nil
        }
        for relationship in model.relationships {
            let name = relationship.referenceName
            let sources = deleted[relationship.source.rootName] ?? []
            let destinations = deleted[relationship.destination.rootName] ?? []
            data.pairs[name] = data.pairs[name]?.filter {
                !sources.contains($0.owner) && !destinations.contains($0.member)
            }
            for key in sources { data.orders[name]?[key] = nil }
            if relationship.isToMany || destinations.isEmpty { continue }
            for (key, record) in data.records[relationship.source.rootName] ?? [:] {
                guard model.entitiesByName[record.entity]!.isKind(of: relationship.source),
                    case .integer(let destination)? = record.values[relationship.name],
                    destinations.contains(destination)
                else { continue }
                data.records[relationship.source.rootName]?[key]?.values[relationship.name] = .null
            }
        }
    }

    private func apply(_ change: SaveChangesRequest.MembershipChange, _ data: inout ReferenceData) {
        let name = change.relationship.referenceName
        for key in change.removed { data.pairs[name]?.remove(.init(owner: change.owner, member: key)) }
        guard data.records[change.relationship.source.rootName]?[change.owner] != nil else { return }
        for key in change.added { data.pairs[name, default: []].insert(.init(owner: change.owner, member: key)) }
        if let order = change.order { data.orders[name, default: [:]][change.owner] = order }
    }

    func requireUniqueness(of touched: Set<Entity>, _ data: ReferenceData) throws {
        for entity in touched {
            for slots in entity.uniquenessConstraints {
                let names = slots.map { entity.properties[$0].name }
                var seen: Set<[Value]> = []
                for record in (data.records[entity.rootName] ?? [:]).values {
                    guard model.entitiesByName[record.entity]!.uniquenessConstraints.contains(slots) else { continue }
                    // Texts are compared by their bytes.
                    let values = names.map { name -> Value in
                        guard case .text(let text)? = record.values[name] else { return record.values[name] ?? .null }
                        return .blob(Data(text.utf8))
                    }
                    if !values.contains(.null), !seen.insert(values).inserted {
                        throw SaveConflict.notUnique(entity: entity.name, properties: names)
                    }
                }
            }
        }
    }
}
