import ObjectGraph

/// The old pairs from which a new relationship gets its pairs.
///
/// The members come from the old version of the relationship. If its inverse was not its inverse before, the pairs of
/// the inverse are added: two one-way relationships become one bidirectional relationship, and a new inverse gets its
/// members.
struct RelationshipMapping {
    let relationship: Relationship
    /// The sources, beginning with the old version of the relationship itself. Their pairs may overlap.
    private(set) var sources: [PairSource] = []

    /// - Parameter offset: The difference between the new and the old keys of rows that move from the table of an old
    ///   root entity to the table of a new root entity.
    init(
        _ relationship: Relationship,
        _ mapping: ModelMapping,
        _ oldSchema: StoreSchema,
        offset: (_ old: Entity, _ new: Entity) -> Int64
    ) {
        self.relationship = relationship
        let own = Self.owners(of: relationship, mapping)
        var backward: [(old: Relationship, owners: [Entity])] = []
        let inverse = relationship.inverse
        if inverse === relationship {
            backward = own.filter { $0.old.inverse !== $0.old }
        } else if let inverse {
            backward = Self.owners(of: inverse, mapping)
                .filter { back in !own.contains { $0.old.inverse === back.old } }
        } else if own.isEmpty {
            backward = relationship.sharers.flatMap { Self.owners(of: $0, mapping) }
        }
        let newRoots = (mapping.new.root(of: relationship.source), mapping.new.root(of: relationship.destination))
        for (entries, isReversed) in [(own, false), (backward, true)] {
            for (old, holders) in entries {
                let far = old.destination.family.filter { !$0.isAbstract }
                let ends = isReversed ? (owners: far, members: holders) : (owners: holders, members: far)
                let isOwner = { (entity: Entity) in
                    mapping.newEntities[entity]?.isKind(of: relationship.source) ?? false
                }
                let isMember = { (entity: Entity) in
                    mapping.newEntities[entity]?.isKind(of: relationship.destination) ?? false
                }
                let roots = (mapping.old.root(of: old.source), mapping.old.root(of: old.destination))
                let oldRoots = isReversed ? (roots.1, roots.0) : roots
                sources.append(
                    PairSource(
                        old,
                        isReversed: isReversed,
                        owners: ends.owners.filter(isOwner),
                        members: ends.members.filter(isMember),
                        foreignMembers: ends.members.filter { mapping.newEntities[$0] != nil && !isMember($0) },
                        ownerOffset: offset(oldRoots.0, newRoots.0),
                        memberOffset: offset(oldRoots.1, newRoots.1),
                        oldSchema
                    )
                )
            }
        }
    }

    /// The old relationships that correspond to a new relationship, each with the old entities that have it.
    private static func owners(
        of relationship: Relationship,
        _ mapping: ModelMapping
    ) -> [(old: Relationship, owners: [Entity])] {
        var result: [(old: Relationship, owners: [Entity])] = []
        for member in relationship.source.family {
            guard let oldEntity = mapping.old(of: member), let old = mapping.old(of: relationship, in: member) else {
                continue
            }
            if let known = result.firstIndex(where: { $0.old === old }) {
                if !oldEntity.isAbstract { result[known].owners.append(oldEntity) }
            } else {
                result.append((old, oldEntity.isAbstract ? [] : [oldEntity]))
            }
        }
        return result
    }

    /// The sources that have pairs after the migration.
    var filled: [PairSource] { sources.filter { !$0.owners.isEmpty && !$0.members.isEmpty } }

    /// The sources with pairs whose owners belong to an old entity.
    func sources(for owner: Entity) -> [PairSource] { filled.filter { $0.owners.contains(owner) } }

    /// The statement that counts the owners with several members; nil if no owner can have several.
    var severalMembersCount: String? {
        let sources = filled
        guard sources.count > 1 || !(sources.first?.isToOne ?? true) else { return nil }
        // To-one sources without a common owner cannot give an owner several members.
        if sources.allSatisfy(\.isToOne), Set(sources.flatMap(\.owners)).count == sources.flatMap(\.owners).count {
            return nil
        }
        return """
            SELECT count(*) FROM (SELECT owner FROM (\(sources.map(\.selection).joined(separator: " UNION "))) \
            GROUP BY owner HAVING count(*) > 1)
            """
    }

    /// The value of the column of a to-one relationship, in rows of an old entity.
    func member(for owner: Entity, ownerTable: String) -> ColumnExpression {
        combined(sources(for: owner).map { $0.expression($0.newMember, ownerTable: ownerTable) })
    }

    /// The value of the column of positions in the to-many inverse, in rows of an old entity.
    func ownerPosition(for owner: Entity, ownerTable: String) -> ColumnExpression {
        // Members without a position are last, by key.
        combined(
            sources(for: owner).map { source in
                source.ownerPosition.map { source.expression($0, ownerTable: ownerTable) } ?? .null
            }
        )
    }

    private func combined(_ expressions: [ColumnExpression]) -> ColumnExpression {
        let expressions = expressions.filter { $0 != .null }
        guard let first = expressions.first else { return .null }
        guard expressions.count > 1 else { return first }
        return .computed("coalesce(\(expressions.map(\.sql).joined(separator: ", ")))")
    }
}
