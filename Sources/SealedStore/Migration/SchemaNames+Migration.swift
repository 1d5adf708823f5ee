import ObjectGraph

extension SchemaNames {
    /// The names of a store after a migration.
    ///
    /// Unchanged declarations keep their names, numbers and bits. Renamed declarations get the names that they would
    /// have in a new store, and new declarations get unused names.
    ///
    /// - Parameters:
    ///   - old: The names before the migration.
    ///   - names: The names of objects in the file that do not belong to tables of the store.
    init(migrating old: SchemaNames, _ mapping: ModelMapping, avoiding names: UniqueNames) {
        self.init(model: mapping.new)
        let homes = Dictionary(
            uniqueKeysWithValues: mapping.new.entities.filter(\.isRoot).compactMap { root in
                mapping.home(of: root).map { (root, $0) }
            }
        )
        codes = Self.codes(mapping, old)
        var taken = names
        for name in Self.reservedTables { _ = taken.add(name) }
        nameTables(old, mapping, homes, &taken)
        for root in mapping.new.entities where root.isRoot {
            nameColumns(of: root, homes[root], old, mapping)
        }
        indexes = old.indexes.compactMap { IndexName(migrating: $0, mapping) }
        addIndexes(of: mapping.new, avoiding: UniqueNames(taken, indexes))
    }

    private static func codes(_ mapping: ModelMapping, _ old: SchemaNames) -> [String: Int64] {
        var next = (old.codes.values.max() ?? 0) + 1
        var codes: [String: Int64] = [:]
        for entity in mapping.new.entities {
            if let known = mapping.old(of: entity).flatMap({ old.codes[$0.name] }) {
                codes[entity.name] = known
            } else {
                codes[entity.name] = next
                next += 1
            }
        }
        return codes
    }

    private mutating func nameTables(
        _ old: SchemaNames,
        _ mapping: ModelMapping,
        _ homes: [Entity: Entity],
        _ taken: inout UniqueNames
    ) {
        (tables, joinTables) = ([:], [:])
        let roots = mapping.new.entities.filter(\.isRoot)
        let canonical = mapping.new.relationships.filter { $0.placement == .joinTable(isCanonical: true) }
        // Unchanged names are taken first, so that they get no numeric suffix.
        for root in roots where homes[root]?.name == root.name {
            tables[root.name] = old.tables[root.name].map { taken.add($0) }
        }
        for relationship in canonical {
            guard let before = mapping.old(of: relationship, in: relationship.source), before.name == relationship.name,
                before.source.name == relationship.source.name, let name = old.recordedJoinTable(of: before)
            else { continue }
            joinTables[relationship.source.name, default: [:]][relationship.name] = taken.add(name)
        }
        for root in roots where tables[root.name] == nil { tables[root.name] = taken.add(SQL.legalName(root.name)) }
        for relationship in canonical where recordedJoinTable(of: relationship) == nil {
            joinTables[relationship.source.name, default: [:]][relationship.name] =
                taken.add("_\(relationship.source.name)_\(relationship.name)")
        }
    }

    private mutating func nameColumns(of root: Entity, _ home: Entity?, _ old: SchemaNames, _ mapping: ModelMapping) {
        var taken = UniqueNames()
        var bits = Set<Int>()
        var others: [Property] = []
        var reals: [Property] = []
        let oldBits = Set(home.map { $0.family.flatMap { old.signBits[$0.name, default: [:]].values } } ?? [])
        for member in root.family {
            for property in member.properties where property.declaringEntityName == member.name {
                if case .relationship(let relationship) = property, relationship.isToMany { continue }
                let before = mapping.source(of: property, in: member, home)
                let isReal = property.isReal
                columns[member.name]?[property.name] = nil
                signBits[member.name]?[property.name] = nil
                if let before, before.name == property.name, let name = old.recordedColumn(of: before),
                    taken.add(ifFree: name)
                {
                    columns[member.name, default: [:]][property.name] = name
                } else {
                    others.append(property)
                }
                if isReal, let before, before.isReal, let bit = old.signBit(of: before), bits.insert(bit).inserted {
                    signBits[member.name, default: [:]][property.name] = bit
                } else if isReal {
                    reals.append(property)
                }
            }
        }
        for property in others {
            columns[property.declaringEntityName, default: [:]][property.name] =
                taken.add(SQL.legalName(property.name))
        }
        // The removal of a column rebuilds the table, which clears the bit. Bits that no column had are given out
        // first.
        let free = (0..<VersionWord.signBits).filter { !bits.contains($0) }
        var next = (free.filter { !oldBits.contains($0) } + free.filter(oldBits.contains))[...]
        for property in reals {
            signBits[property.declaringEntityName, default: [:]][property.name] = next.popFirst()
        }
        for relationship in mapping.new.relationships
        where relationship.destination.rootIndex == root.index && relationship.isOrdered
            && relationship.placement == .destinationKey
        {
            let before = mapping.old(of: relationship, in: relationship.source)
            let name = before.flatMap { $0.name == relationship.name ? old.recordedPositionColumn(of: $0) : nil }
            positionColumns[relationship.source.name, default: [:]][relationship.name] =
                taken.add(name ?? "_position_\(relationship.name)")
        }
    }
}

extension ModelMapping {
    /// The old root entity whose rows keep their keys in the table of a new root entity: the root of the first entity
    /// of the family that has an old entity.
    func home(of root: Entity) -> Entity? {
        root.family.lazy.compactMap { old(of: $0) }.first.map { self.old.root(of: $0) }
    }

    /// The old property whose column becomes the column of a new property.
    func source(of property: Property, in declaring: Entity, _ home: Entity?) -> Property? {
        for member in declaring.family {
            if let oldEntity = old(of: member), oldEntity.rootIndex == home?.index,
                let source = old(of: property, in: member), !source.isToMany
            {
                return source
            }
        }
        return nil
    }
}

extension SchemaNames.IndexName {
    /// The index after a migration; nil if one of its properties was removed, or can no longer have such an index.
    fileprivate init?(migrating old: SchemaNames.IndexName, _ mapping: ModelMapping) {
        guard let oldEntity = mapping.old.entitiesByName[old.entity], let entity = mapping.newEntities[oldEntity] else {
            return nil
        }
        let properties = old.index.properties.compactMap { name in
            entity.properties.first { mapping.old(of: $0, in: entity)?.name == name && !$0.isToMany }?.name
        }
        guard properties.count == old.index.properties.count else { return nil }
        let index = FetchIndexDescription(properties, kind: old.index.kind)
        let attributes = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.description) })
        guard IndexValidation(index, attributes: attributes).problems.isEmpty else { return nil }
        self.init(entity: entity.name, index: index, name: old.name)
    }
}

extension Property {
    var isToMany: Bool {
        if case .relationship(let relationship) = self { relationship.isToMany } else { false }
    }

    fileprivate var isReal: Bool {
        if case .attribute(let attribute) = self { attribute.type.storage == .real } else { false }
    }
}
