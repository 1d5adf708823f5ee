import ObjectGraph

/// The rules of a save for references among its objects.
extension ReferenceStore {
    /// - Throws: `SaveConflict.outdated` with objects that get new members but do not exist.
    func requireOwners(of changes: [SaveChangesRequest.MembershipChange], _ data: ReferenceData) throws {
        let missing = changes.filter { change in
            !change.added.isEmpty && data.records[change.relationship.source.rootName]?[change.owner] == nil
        }
        if missing.isEmpty { return }
        throw SaveConflict.outdated(Array(Set(missing.map { id($0.owner, $0.relationship.source, data) })))
    }

    /// All references to objects that do not exist or are of another entity.
    func danglingReferences(_ data: ReferenceData) -> [WrittenReference] {
        var dangling: [WrittenReference] = []
        func check(_ key: Int64, _ source: Int64, _ entity: Entity, _ relationship: Relationship) {
            let destination = data.records[relationship.destination.rootName]?[key]
                .flatMap { model.entitiesByName[$0.entity] }
            if destination?.isKind(of: relationship.destination) ?? false { return }
            dangling.append(
                WrittenReference(
                    source: id(source, entity, data),
                    relationship: relationship,
                    destination: id(key, relationship.destination, data)
                )
            )
        }
        for (key, record) in data.records.values.joined() {
            let entity = model.entitiesByName[record.entity]!
            for relationship in entity.relationships where !relationship.isToMany {
                if case .integer(let destination)? = record.values[relationship.name] {
                    check(destination, key, entity, relationship)
                }
            }
        }
        for relationship in model.relationships {
            for pair in data.pairs[relationship.referenceName] ?? [] {
                check(pair.member, pair.owner, relationship.source, relationship)
            }
        }
        return dangling
    }

    /// The references to deleted objects, and pairs with them, that no delete rule clears.
    func remainingReferences(
        to deletions: [SaveChangesRequest.Deletion],
        _ data: ReferenceData
    ) -> [RemainingReference] {
        var deleted: [String: [Int64: Entity]] = [:]
        for deletion in deletions { deleted[deletion.entity.rootName, default: [:]][deletion.key] = deletion.entity }
        var remaining: [RemainingReference] = []
        func add(
            _ gone: Int64,
            _ other: (Int64, Entity),
            _ rule: Relationship?,
            _ reference: Relationship?,
            in root: Entity
        ) {
            guard let entity = deleted[root.rootName]?[gone] else { return }
            remaining.append(
                RemainingReference(
                    deleted: id(gone, entity, data),
                    remaining: id(other.0, other.1, data),
                    rule: rule,
                    reference: reference
                )
            )
        }
        for relationship in model.relationships {
            let destination = relationship.destination
            if relationship.isToMany {
                let inverse = relationship.inverse
                for pair in data.pairs[relationship.referenceName] ?? [] {
                    let hasOwner = data.records[relationship.source.rootName]?[pair.owner] != nil
                    let hasMember = data.records[destination.rootName]?[pair.member] != nil
                    if hasMember, !relationship.dropsPairsOfDeleted {
                        add(pair.owner, (pair.member, destination), relationship, inverse, in: relationship.source)
                    }
                    if hasOwner, let inverse, !inverse.dropsPairsOfDeleted {
                        add(pair.member, (pair.owner, relationship.source), inverse, relationship, in: destination)
                    }
                }
            } else if !relationship.isClearedWithDestination {
                for (key, record) in data.records[relationship.source.rootName] ?? [:] {
                    let entity = model.entitiesByName[record.entity]!
                    guard entity.isKind(of: relationship.source),
                        case .integer(let gone)? = record.values[relationship.name]
                    else { continue }
                    add(gone, (key, entity), relationship.inverse, relationship, in: destination)
                }
            }
        }
        return remaining
    }
}
