import ObjectGraph

extension SchemaNames {
    /// Checks that names read from a file are valid: that they cover the whole model, and that all of them differ.
    ///
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)``.
    func validate(for model: ManagedObjectModel) throws(SealedStoreError) {
        var tables = DistinctNames(Set(StoreFeatures.tables.filter(\.ownsName).map(\.name)))
        // A migration numbers new entities after all other entities, including the entities of other models.
        guard self.codes.values.allSatisfy(Self.validCodes.contains) else { throw Self.damaged }
        var codes: Set<Int64> = []
        for entity in model.entities {
            guard let code = recordedCode(of: entity), codes.insert(code).inserted else { throw Self.damaged }
            guard entity.isRoot else { continue }
            try tables.add(recordedTable(of: entity))
            try validateColumns(of: entity, model)
        }
        for relationship in model.relationships where relationship.placement == .joinTable(isCanonical: true) {
            try tables.add(recordedJoinTable(of: relationship))
        }
        for index in indexes {
            guard let entity = model.entitiesByName[index.entity],
                index.index.properties.allSatisfy({ entity.propertiesByName[$0] != nil })
            else { throw Self.damaged }
            try tables.add(index.name)
        }
    }

    private func validateColumns(of root: Entity, _ model: ManagedObjectModel) throws(SealedStoreError) {
        var columns = DistinctNames(["_id", "_entity", "_version"])
        var signBits: Set<Int> = []
        for member in root.family {
            for property in member.properties where property.declaringEntityName == member.name {
                if case .relationship(let relationship) = property, relationship.isToMany { continue }
                try columns.add(recordedColumn(of: property))
                guard let bit = signBit(of: property) else { continue }
                guard (0..<VersionWord.signBits).contains(bit), signBits.insert(bit).inserted else {
                    throw Self.damaged
                }
            }
        }
        for relationship in model.relationships
        where relationship.destination.rootIndex == root.index && relationship.isOrdered
            && relationship.placement == .destinationKey
        {
            try columns.add(recordedPositionColumn(of: relationship))
        }
    }

    /// The numbers of entities; more than any store can use up.
    private static let validCodes = 1...Int64(Int32.max)

    fileprivate static let damaged = SealedStoreError.damagedMetadata("names")
}

/// Names from a file, all of which must differ in SQLite's comparison of names.
private struct DistinctNames {
    private var taken: Set<String>

    init(_ taken: Set<String>) {
        self.taken = taken
    }

    mutating func add(_ name: String?) throws(SealedStoreError) {
        guard let name, !name.isEmpty, !name.utf8.contains(0), taken.insert(SQL.foldedName(name)).inserted else {
            throw SchemaNames.damaged
        }
    }
}
