extension ObjectLoader {
    /// Loads the objects that paths of relationships lead to from objects.
    ///
    /// The objects stay registered as all objects do: while the program refers to them, and otherwise until the next
    /// sweep of the identity table. Objects that cannot be read are omitted: the first access to such an object reports
    /// the error.
    ///
    /// - Throws: errors of the store that concern all objects.
    /// - Complexity: one statement with all keys for each step (two if their number is close to the limit of a
    ///   statement's parameters).
    func prefetch(_ paths: [[Relationship]], from objects: [some GraphObject]) throws {
        guard !paths.isEmpty, !objects.isEmpty else { return }
        // All objects are retained to the end: loading may sweep the identity table, which must not remove previously
        // loaded objects.
        var loaded: [[Relationship]: [any GraphObject]] = [[]: objects.map { $0 as any GraphObject }]
        for path in paths {
            for (position, relationship) in path.enumerated() {
                let step = Array(path[...position])
                guard loaded[step] == nil else { continue }
                let sources = (loaded[Array(path[..<position])] ?? []).filter {
                    $0.entity.isKind(of: relationship.source)
                }
                loaded[step] =
                    relationship.isToMany
                    ? try prefetchMembers(of: relationship, from: sources)
                    : try prefetchDestinations(of: relationship, from: sources)
            }
        }
        withExtendedLifetime(loaded) {}
    }

    /// Loads the destinations of a to-one relationship that are not registered yet.
    ///
    /// - Returns: all destinations, each once.
    private func prefetchDestinations(
        of relationship: Relationship,
        from sources: [any GraphObject]
    ) throws -> [any GraphObject] {
        let keys = Set(sources.map { $0.destinationKey(at: relationship.slot) }).subtracting([0])
        return try load(keys, of: relationship.destination)
    }

    /// Loads the members of a to-many relationship of the objects that have not loaded them yet.
    ///
    /// - Returns: all members, each once.
    private func prefetchMembers(
        of relationship: Relationship,
        from sources: [any GraphObject]
    ) throws -> [any GraphObject] {
        var owners: [Int64: any GraphObject] = [:]
        for source in sources where source.life.canBeFilled {
            if !source.members(of: relationship).isLoaded { owners[source.state.pointee.key] = source }
        }
        let loaded = owners.isEmpty ? [] : try loadMembers(of: relationship, owners).objects
        return try withExtendedLifetime(loaded) {
            var keys: Set<Int64> = []
            for source in sources { keys.formUnion(source.members(of: relationship).keys) }
            return try load(keys, of: relationship.destination)
        }
    }

    /// The objects with the given keys. Objects that are not registered, and faults, are fetched with one request.
    private func load(_ keys: Set<Int64>, of entity: Entity) throws -> [any GraphObject] {
        var objects: [any GraphObject] = []
        var missing: [Int64] = []
        for key in keys.sorted() {
            guard let object = identityMap.object(forKey: key, of: entity) else {
                if key > 0 { missing.append(key) }
                continue
            }
            if object.isFault, !object.life.isMissing {
                missing.append(key)
            } else {
                objects.append(object)
            }
        }
        guard !missing.isEmpty else { return objects }
        return try rows(of: entity, withKeys: missing).results.reduce(into: objects) { $0 += materialize($1) }
    }
}
