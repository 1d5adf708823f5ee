import ObjectGraph

/// The objects whose references or members a save or batch request has changed, except the rows and memberships in the
/// request itself. Rows with changed references have new versions, and the contexts receive the objects as updates.
struct ClearedRows {
    private var keys: [Int: Set<Int64>] = [:]
    private var slots: [Int: SlotSet] = [:]

    /// Adds the rows of a relationship's sources.
    mutating func add(_ sources: some Collection<Int64>, of relationship: Relationship) {
        guard !sources.isEmpty else { return }
        keys[relationship.source.rootIndex, default: []].formUnion(sources)
        slots[relationship.source.rootIndex, default: SlotSet()].insert(relationship.slot)
    }

    /// The keys by root entity.
    func lists(_ model: ManagedObjectModel) -> [BatchChanges.Keys] {
        if keys.isEmpty { return [] }
        return keys.sorted { $0.key < $1.key }.map {
            .init(entity: model.entities[$0.key], keys: $0.value.sorted(), slots: slots[$0.key])
        }
    }
}
