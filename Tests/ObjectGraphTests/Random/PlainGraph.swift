import ObjectGraph

/// An object graph written as simply as possible: structs in a dictionary.
struct PlainGraph {
    struct Object: Equatable {
        var entity: Entity
        var values: [String: Value] = [:]
        var relations: [String: [Int]] = [:]
    }

    var objects: [Int: Object] = [:]

    /// The destinations of a relationship of an object.
    func related(_ id: Int, _ relationship: Relationship) -> [Int] { objects[id]?.relations[relationship.name] ?? [] }

    mutating func insert(_ id: Int, _ entity: Entity) { objects[id] = Object(entity: entity) }

    // MARK: Relating

    mutating func relate(_ id: Int, _ relationship: Relationship, to others: [Int]) {
        for old in related(id, relationship) where !others.contains(old) { unrelate(id, relationship, from: old) }
        for other in others where !related(id, relationship).contains(other) {
            if let inverse = relationship.inverse, !inverse.isToMany {
                for rival in related(other, inverse) { unrelate(other, inverse, from: rival) }
            }
            if !relationship.isToMany {
                for old in related(id, relationship) { unrelate(id, relationship, from: old) }
            }
            append(other, to: id, relationship)
            if let inverse = relationship.inverse { append(id, to: other, inverse) }
        }
        if relationship.isOrdered { objects[id]!.relations[relationship.name] = others }
    }

    private mutating func append(_ other: Int, to id: Int, _ relationship: Relationship) {
        if !related(id, relationship).contains(other) {
            objects[id]!.relations[relationship.name, default: []].append(other)
        }
    }

    private mutating func unrelate(_ id: Int, _ relationship: Relationship, from other: Int) {
        objects[id]?.relations[relationship.name]?.removeAll { $0 == other }
        if let inverse = relationship.inverse { objects[other]?.relations[inverse.name]?.removeAll { $0 == id } }
    }

    // MARK: Deleting

    /// An object and all objects that its cascades delete.
    func cascade(from id: Int) -> Set<Int> {
        var found: Set<Int> = [id]
        var next = [id]
        while let id = next.popLast() {
            for relationship in objects[id]!.entity.relationships where relationship.deleteRule == .cascade {
                for other in related(id, relationship) where found.insert(other).inserted { next.append(other) }
            }
        }
        return found
    }

    /// Whether a relationship with delete rule deny leads from a deleted object to an object that stays.
    func denies(deletionOf deleted: some Sequence<Object>) -> Bool {
        deleted.contains { object in
            object.entity.relationships.contains { relationship in
                relationship.deleteRule == .deny
                    && object.relations[relationship.name, default: []].contains { objects[$0] != nil }
            }
        }
    }

    mutating func remove(_ ids: Set<Int>) {
        for id in ids { objects[id] = nil }
        for id in objects.keys {
            for (name, others) in objects[id]!.relations {
                objects[id]!.relations[name] = others.filter { !ids.contains($0) }
            }
        }
    }

    /// Moves an object to the end of the inverse list of each of its relationships. Its position in its own list stays,
    /// since that list was deleted with it.
    mutating func rejoin(_ id: Int) {
        for relationship in objects[id]!.entity.relationships {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            for other in related(id, relationship) where other != id {
                objects[other]!.relations[inverse.name]!.removeAll { $0 == id }
                objects[other]!.relations[inverse.name]!.append(id)
            }
        }
    }

    // MARK: Checks

    /// The inconsistencies of the graph itself.
    var contradictions: [String] {
        var found: [String] = []
        for (id, object) in objects {
            for relationship in object.entity.relationships {
                let others = related(id, relationship)
                if !relationship.isToMany, others.count > 1 { found.append("\(id).\(relationship.name) is \(others)") }
                for other in others {
                    guard objects[other] != nil else {
                        found.append("\(id).\(relationship.name) leads to \(other), which is deleted")
                        continue
                    }
                    if let inverse = relationship.inverse, !related(other, inverse).contains(id) {
                        found.append("\(id).\(relationship.name) leads to \(other), but not back")
                    }
                }
            }
        }
        return found
    }
}
