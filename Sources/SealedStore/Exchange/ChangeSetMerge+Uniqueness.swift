import ObjectGraph

extension ChangeSetMerge {
    /// The number of lists of values that one query looks for.
    private static let valuesAtOnce = 500

    /// Whether no two objects have the same values of properties that are unique together. If two do, one of them keeps
    /// its values, or the two become one object.
    ///
    /// The common order contains no such objects: without changes of the store, nothing has to be compared.
    mutating func areUnique(_ values: Values) throws -> Bool {
        guard !pending.isEmpty else { return true }
        var values = values
        var isStable = true
        for constraint in UniquenessRule.all(of: model) {
            var owners: [[Value]: ObjectPlace] = [:]
            for target in targets where target.change.entity.isKind(of: constraint.entity) {
                guard let own = values[target.place],
                    target.isNew || constraint.slots.contains(where: { own[$0] != nil }),
                    let list = try uniqueValues(of: target.place, constraint, values)
                else { continue }
                if let other = owners[list] {
                    try separate(target, other, constraint, values)
                    isStable = false
                } else {
                    owners[list] = target.place
                }
            }
            for row in try holders(of: Array(owners.keys), constraint) {
                let place = ObjectPlace(rootIndex: constraint.entity.rootIndex, key: row.key)
                guard !isDeleted(place), let list = constraint.values(of: row), let owner = owners[list],
                    owner != place, try uniqueValues(of: place, constraint, values) == list,
                    let target = target(at: owner)
                else { continue }
                try separate(target, place, constraint, values)
                owners[list] = nil
                isStable = false
                try separateFollowing(target, constraint, &values, &owners)
            }
            guard isStable else { return false }
        }
        return true
    }

    /// Separates an object that keeps its values from the object that was to get them, and so on along a chain of such
    /// objects. Without this, each new composition of the save would find one object of the chain.
    private mutating func separateFollowing(
        _ first: Target,
        _ constraint: UniquenessRule,
        _ values: inout Values,
        _ owners: inout [[Value]: ObjectPlace]
    ) throws {
        var keeping = first
        while !keeping.isNew {
            for slot in constraint.slots where isKept(slot, keeping.place) { values[keeping.place]?[slot] = nil }
            guard let list = try uniqueValues(of: keeping.place, constraint, values), let owner = owners[list],
                owner != keeping.place, let next = target(at: owner)
            else { return }
            try separate(next, keeping.place, constraint, values)
            owners[list] = nil
            keeping = next
        }
    }

    /// The values of an object after the save; nil if one of them is null.
    private mutating func uniqueValues(
        of place: ObjectPlace,
        _ constraint: UniquenessRule,
        _ values: Values
    ) throws -> [Value]? {
        let own = values[place]
        let row = target(at: place)?.isNew ?? false ? nil : try row(at: place)
        let list = constraint.slots.map { own?[$0] ?? row?.value(at: $0) ?? .null }
        return list.contains(where: \.isNull) ? nil : list
    }

    /// The rows that have one of the lists of values.
    private func holders(of lists: [[Value]], _ constraint: UniquenessRule) throws -> RowBatch {
        let columns = constraint.slots.map { QueryExpression.path(constraint.entity.properties[$0]) }
        var rows = RowBatch()
        for start in stride(from: 0, to: lists.count, by: Self.valuesAtOnce) {
            let part = lists[start..<min(lists.count, start + Self.valuesAtOnce)]
            var request = FetchRequest(constraint.entity)
            request.includesPendingChanges = false
            if columns.count == 1 {
                request.predicate = .isMember(columns[0], of: part.map { $0[0] })
            } else {
                request.predicate = .or(
                    part.map { list in .and(zip(columns, list).map { .comparison(.equal, $0, .literal($1)) }) }
                )
            }
            rows.append(try reading.store.fetch(request, in: nil))
        }
        return rows
    }

    /// Decides which of two objects gets the values: an object of the store whose change was not exchanged has them,
    /// too.
    private mutating func separate(
        _ target: Target,
        _ other: ObjectPlace,
        _ constraint: UniquenessRule,
        _ values: Values
    ) throws {
        guard target.isNew else {
            // Another constraint may have kept the same value. The next composition of the save then has none of the
            // two conflicts.
            var isDecided = false
            for slot in constraint.slots where values[target.place]?[slot] != nil {
                keep(slot, target)
                isDecided = true
            }
            guard !isDecided else { return }
            throw IncomingChanges.error(.notUnique, target.change.identifier, constraint.entity)
        }
        let otherTarget = self.target(at: other)
        let isOtherNew = otherTarget?.isNew ?? false
        let isSameEntity =
            isOtherNew
            ? false : try row(at: other).map { model.entities[$0.entityIndex] === target.change.entity } ?? false
        if isSameEntity, let difference = pending[other], difference.isWhole, !difference.isKnown, otherTarget == nil,
            merged[other] == nil
        {
            return merge(target, with: other)
        }
        if isSameEntity { return try drop(target, for: other, .notUnique) }
        let optional = constraint.slots.first { slot in
            target.change.entity.properties[slot].isOptional && !isKept(slot, target.place)
        }
        if let optional {
            keep(optional, target)
        } else {
            try drop(target, .notUnique)
        }
    }
}

/// Properties that are unique together among the objects of an entity.
private struct UniquenessRule {
    let entity: Entity
    let slots: [Int]

    /// The rules of a model, each once: the rules of a subentity include the inherited rules.
    static func all(of model: ManagedObjectModel) -> [UniquenessRule] {
        model.entities.flatMap { entity in
            entity.uniquenessConstraints.compactMap { slots in
                entity.superentity?.uniquenessConstraints.contains(slots) ?? false
                    ? nil : UniquenessRule(entity: entity, slots: slots)
            }
        }
    }

    /// The values of a row; nil if one of them is null.
    func values(of row: Row) -> [Value]? {
        let values = slots.map { row.value(at: $0) }
        return values.contains(where: \.isNull) ? nil : values
    }
}
