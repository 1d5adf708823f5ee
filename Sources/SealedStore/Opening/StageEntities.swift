import ObjectGraph

/// The entities of each version of a model that a store holds, if it holds a part of the model.
///
/// The description of a store names its entities in the program's model only. An entity of an earlier version belongs
/// to the store that holds the entity that it becomes. An entity that a later version removes belongs to the store of
/// the entities that it is linked with, since neither a relationship nor a superentity leads to another store; without
/// such links, to the store whose file holds it.
struct StageEntities {
    private struct Version {
        let model: ManagedObjectModel
        /// The names of the entities that belong to the store.
        var own: Set<String> = []
        /// Groups of linked entities that become no entity of the program's model.
        var undecided: [Set<String>] = []
    }

    /// The versions, in order.
    private var versions: [Version] = []

    /// - Parameters:
    ///   - models: The models of the versions, in order.
    ///   - program: The model of the program.
    ///   - names: The entities of the program's model that the store holds.
    init(_ models: [ManagedObjectModel], before program: ManagedObjectModel, own names: Set<String>) {
        var later = program
        var own = names
        var others = Set(program.entities.map(\.name)).subtracting(names)
        for model in models.reversed() {
            let next = ModelMapping(from: model, to: later).newEntities
            let earlier = { (names: Set<String>) in
                Set(model.entities.filter { next[$0].map { names.contains($0.name) } ?? false }.map(\.name))
            }
            (own, others) = (earlier(own), earlier(others))
            var version = Version(model: model)
            for group in Self.groups(of: model) {
                let rest = group.subtracting(own).subtracting(others)
                if rest.isEmpty { continue }
                if !group.isDisjoint(with: own) {
                    own.formUnion(rest)
                } else if !group.isDisjoint(with: others) {
                    others.formUnion(rest)
                } else {
                    version.undecided.append(rest)
                }
            }
            version.own = own
            versions.append(version)
            later = model
        }
        versions.reverse()
    }

    /// The names of the entities of a version that a store holds, given the model in its file.
    ///
    /// - Parameter isTarget: Whether the store is to be migrated to the version. The store then gets the new entities
    ///   that a later version removes, for the code of the stages between the two versions.
    func names(at position: Int, in stored: ManagedObjectModel, isTarget: Bool) -> Set<String> {
        let version = versions[position]
        let sources = ModelMapping(from: stored, to: version.model)
        let predecessors = position > 0 ? ModelMapping(from: versions[position - 1].model, to: version.model) : nil
        return version.undecided.reduce(into: version.own) { names, group in
            let entities = version.model.entities.filter { group.contains($0.name) }
            let isNew = isTarget && (predecessors.map { $0.areNew(entities) } ?? false)
            if isNew || !sources.areNew(entities) { names.formUnion(group) }
        }
    }

    /// The names of the entities of a model, in groups that superentities and relationships connect.
    private static func groups(of model: ManagedObjectModel) -> [Set<String>] {
        var neighbours: [String: Set<String>] = [:]
        for entity in model.entities {
            let links = [entity.superentity].compactMap { $0?.name } + entity.relationships.map(\.destination.name)
            for other in links {
                neighbours[entity.name, default: []].insert(other)
                neighbours[other, default: []].insert(entity.name)
            }
        }
        var seen: Set<String> = []
        return model.entities.compactMap { entity in
            guard seen.insert(entity.name).inserted else { return nil }
            var group: Set<String> = []
            var open = [entity.name]
            while let name = open.popLast() {
                group.insert(name)
                open += (neighbours[name] ?? []).filter { seen.insert($0).inserted }
            }
            return group
        }
    }
}

extension ModelMapping {
    /// Whether no entity in a list of new entities has an old entity.
    fileprivate func areNew(_ entities: [Entity]) -> Bool { entities.allSatisfy { old(of: $0) == nil } }
}
