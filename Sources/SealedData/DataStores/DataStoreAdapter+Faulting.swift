import Foundation
import Guarded
import ObjectGraph

/// Faulting: objects by identifier, and relationships.
extension DataStoreAdapter {
    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? {
        try newValuesForObjects(with: [id], with: context).first { _ in true }.map(IncrementalStoreNode.init)
    }

    func newValuesForObjects(with ids: [ManagedObjectID], with context: RequestContext) throws -> RowBatch {
        guard let entity = ids.first.map({ model.root(of: $0.entity) }) else { return RowBatch() }
        let snapshots = try snapshots(with: ids.map(\.key), editingState(of: context))
        return try rows(of: snapshots, entity, inOrder: false)
    }

    /// The existing members according to the owners' snapshots. If a snapshot does not contain the relationship, the
    /// members are the objects whose inverse leads to the owner.
    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        let editingState = editingState(of: context)
        var members: [Int64: [Int64]] = [:]
        var ownersWithoutMembers: Set<Int64> = []
        for snapshot in try snapshots(with: ids.map(\.key), editingState) {
            let owner = primaryKeys.key(for: snapshot.persistentIdentifier, in: relationship.source)
            if let destinations = try snapshot.destinations(of: relationship) {
                members[owner] = destinations.compactMap { key(of: $0, along: relationship, from: snapshot) }
            } else {
                ownersWithoutMembers.insert(owner)
            }
        }
        if !ownersWithoutMembers.isEmpty {
            for (owner, key) in try owners(along: relationship, editingState)
            where ownersWithoutMembers.contains(owner) {
                members[owner, default: []].append(key)
            }
        }
        let snapshots = try snapshots(with: Set(members.values.joined()).sorted(), editingState)
        let rows = try rows(of: snapshots, relationship.destination, inOrder: false)
        let existing = Set(rows.map(\.key))
        var result = RelationshipRows()
        for id in ids {
            let keys = Set(members[id.key] ?? []).intersection(existing)
            result.append(owner: id.key, members: keys.sorted())
        }
        result.rows = rows
        return result
    }

    /// Returns the owners and members of a relationship, read from the members.
    private func owners(
        along relationship: Relationship,
        _ editingState: EditingState
    ) throws -> [(owner: Int64, member: Int64)] {
        guard let inverse = relationship.inverse else { return [] }
        return try allSnapshots(of: relationship.destination, editingState).flatMap { snapshot in
            guard isOfEntity(snapshot.persistentIdentifier, relationship.destination) else {
                return [(owner: Int64, member: Int64)]()
            }
            let member = primaryKeys.key(for: snapshot.persistentIdentifier, in: relationship.destination)
            return try (snapshot.destinations(of: inverse) ?? []).compactMap { identifier in
                key(of: identifier, along: inverse, from: snapshot).map { ($0, member) }
            }
        }
    }

    // MARK: Snapshots

    /// Returns the snapshots of existing objects: cached snapshots first, then fetched ones.
    private func snapshots(with keys: [Int64], _ editingState: EditingState) throws -> [DefaultSnapshot] {
        let related = related.withLock { $0 }
        var found = keys.compactMap { related[$0] }
        var missing = keys.filter { related[$0] == nil }.compactMap(primaryKeys.identifier)
        guard !missing.isEmpty else { return found }
        let cached = try connection.cachedSnapshots(for: missing, editingState: editingState)
        if !cached.isEmpty {
            found += cached
            let known = Set(cached.map(\.persistentIdentifier))
            missing.removeAll(where: known.contains)
        }
        for (name, identifiers) in Dictionary(grouping: missing, by: \.entityName) {
            guard let entity = model.entitiesByName[name] else { continue }
            found += try fetch(identifiers, of: entity, editingState)
        }
        return found
    }

    private func fetch(
        _ identifiers: [PersistentIdentifier],
        of entity: Entity,
        _ editingState: EditingState
    ) throws -> [DefaultSnapshot] {
        func fetch<T: PersistentModel>(_ type: T.Type) throws -> [DefaultSnapshot] {
            let predicate = #Predicate<T> { identifiers.contains($0.persistentModelID) }
            do {
                return try snapshots(of: FetchDescriptor<T>(predicate: predicate), editingState)
            } catch DataStoreError.preferInMemoryFilter, DataStoreError.preferInMemorySort {
                return try snapshots(of: FetchDescriptor<T>(), editingState)
            }
        }
        let keys = Set(identifiers.map { primaryKeys.key(for: $0, in: entity) })
        return try entity.family.flatMap { entity in
            try target.classes[entity.name].map { try fetch($0) } ?? []
        }.filter { snapshot in
            isOfEntity(snapshot.persistentIdentifier, entity)
                && keys.contains(primaryKeys.key(for: snapshot.persistentIdentifier, in: entity))
        }
    }
}
