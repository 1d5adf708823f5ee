import ObjectGraph

/// The rows in which a save or batch request has changed references, beside the rows that the request contains. Each
/// has a new version, and the contexts learn of it as of an update.
struct ClearedRows {
    private var keys: [Int: Set<Int64>] = [:]

    /// Adds the rows of a relationship's sources.
    mutating func add(_ sources: some Collection<Int64>, of relationship: Relationship) {
        if !sources.isEmpty { keys[relationship.source.rootIndex, default: []].formUnion(sources) }
    }

    /// The keys by root entity.
    func lists(_ model: ManagedObjectModel) -> [BatchChanges.Keys] {
        if keys.isEmpty { return [] }
        return keys.sorted { $0.key < $1.key }.map { .init(entity: model.entities[$0.key], keys: $0.value.sorted()) }
    }
}
