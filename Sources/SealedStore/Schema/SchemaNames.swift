import ObjectGraph

/// The names of tables and columns, the numbers of entities, and the sign bits of columns, as a store records them when
/// it is created.
///
/// A name is the name that the program declares, unless it begins with an underscore or with `sqlite_`, which are
/// reserved for the store and SQLite, or differs from another name only in case. Then it gets the prefix `x` or a
/// number as suffix.
struct SchemaNames: Codable, Hashable, Sendable {
    /// Table names of root entities by entity name.
    var tables: [String: String] = [:]
    /// Column names by the names of the declaring entity and the property.
    var columns: [String: [String: String]] = [:]
    /// Names of the columns that order to-many relationships, by the names of the declaring entity and the
    /// relationship.
    var positionColumns: [String: [String: String]] = [:]
    /// Join table names by the names of the declaring entity and the canonical relationship.
    var joinTables: [String: [String: String]] = [:]
    /// The number of each entity.
    var codes: [String: Int64] = [:]
    /// The bits of columns of reals in the ``VersionWord``, by the names of the declaring entity and the property.
    var signBits: [String: [String: Int]] = [:]
    /// The declared indexes that the store has.
    var indexes: [IndexName] = []

    /// An index with its name.
    struct IndexName: Codable, Hashable, Sendable {
        /// The name of the entity that declares the index.
        let entity: String
        let index: FetchIndexDescription
        /// The name of the index or of its virtual table, which is the prefix of the names of its further objects.
        let name: String

        /// The names of the tables in which SQLite stores the content of a virtual table.
        var shadowTables: [String] { index.shadowSuffixes.map { name + $0 } }

        fileprivate var declaration: Declaration { Declaration(entity: entity, index: index) }
    }

    /// The names of the store's own tables, which no new table of an entity gets.
    static let reservedTables = StoreFeatures.tables.map(\.name)

    /// Creates names for a model, in the order of its declarations.
    init(model: ManagedObjectModel) {
        var tableNames = UniqueNames(Self.reservedTables)
        for (position, entity) in model.entities.enumerated() {
            codes[entity.name] = Int64(position + 1)
            if entity.isRoot { tables[entity.name] = tableNames.add(SQL.legalName(entity.name)) }
        }
        for entity in model.entities where entity.isRoot {
            var columnNames = UniqueNames()
            var nextSignBit = 0
            for member in entity.family {
                for property in member.properties where property.declaringEntityName == member.name {
                    if case .relationship(let relationship) = property, relationship.isToMany { continue }
                    columns[member.name, default: [:]][property.name] = columnNames.add(SQL.legalName(property.name))
                    guard case .attribute(let attribute) = property, attribute.type.storage == .real,
                        nextSignBit < VersionWord.signBits
                    else { continue }
                    signBits[member.name, default: [:]][property.name] = nextSignBit
                    nextSignBit += 1
                }
            }
            for relationship in model.relationships where relationship.destination.rootIndex == entity.index {
                guard relationship.isOrdered, relationship.placement == .destinationKey else { continue }
                positionColumns[relationship.source.name, default: [:]][relationship.name] =
                    columnNames.add("_position_\(relationship.name)")
            }
        }
        for relationship in model.relationships where relationship.placement == .joinTable(isCanonical: true) {
            joinTables[relationship.source.name, default: [:]][relationship.name] =
                tableNames.add("_\(relationship.source.name)_\(relationship.name)")
        }
        addIndexes(of: model, avoiding: tableNames)
    }

    /// Adds names for the indexes that a model declares and the store lacks. Indexes that the model does not declare
    /// stay: another program may need them.
    ///
    /// - Parameter names: The names that are taken.
    mutating func addIndexes(of model: ManagedObjectModel, avoiding names: UniqueNames) {
        var names = names
        for (entity, index) in missingIndexes(of: model) {
            indexes.append(
                IndexName(
                    entity: entity,
                    index: index,
                    name: names.add(
                        "_\(index.kind.name)_\(entity)_\(index.properties.joined(separator: "_"))",
                        suffixes: index.suffixes
                    )
                )
            )
        }
    }

    /// The indexes that a model declares and the store lacks, each once, with the names of the declaring entities.
    func missingIndexes(of model: ManagedObjectModel) -> [(entity: String, index: FetchIndexDescription)] {
        var known = Set(indexes.map(\.declaration))
        var missing: [(entity: String, index: FetchIndexDescription)] = []
        for entity in model.entities {
            for index in entity.description.indexes
            where known.insert(Declaration(entity: entity.name, index: index)).inserted {
                missing.append((entity.name, index))
            }
        }
        return missing
    }

    /// Removes the indexes that a model does not declare.
    mutating func removeIndexes(notIn model: ManagedObjectModel) {
        let declared = Self.declarations(of: model)
        indexes.removeAll { !declared.contains($0.declaration) }
    }

    /// The names, with the indexes that a model declares before all others: a search uses the first suitable index.
    func preferringIndexes(of model: ManagedObjectModel) -> SchemaNames {
        let declared = Self.declarations(of: model)
        var names = self
        names.indexes = indexes.filter { declared.contains($0.declaration) }
        guard names.indexes.count < indexes.count else { return self }
        names.indexes += indexes.filter { !declared.contains($0.declaration) }
        return names
    }

    private static func declarations(of model: ManagedObjectModel) -> Set<Declaration> {
        Set(
            model.entities.flatMap { entity in
                entity.description.indexes.map { Declaration(entity: entity.name, index: $0) }
            }
        )
    }

    fileprivate struct Declaration: Hashable {
        let entity: String
        let index: FetchIndexDescription
    }

    /// The names of tables.
    var tableNames: UniqueNames {
        UniqueNames(
            tables.values + joinTables.values.flatMap(\.values) + Self.reservedTables
        )
    }

    /// The recorded names, with new names for the entities of the model that the store does not hold.
    func completed(for model: ManagedObjectModel) -> SchemaNames {
        guard model.entities.contains(where: { codes[$0.name] == nil }) else { return self }
        var names = SchemaNames(model: model)
        names.tables.merge(tables) { $1 }
        names.columns.merge(columns) { $1 }
        names.positionColumns.merge(positionColumns) { $1 }
        names.joinTables.merge(joinTables) { $1 }
        names.codes.merge(codes) { $1 }
        names.signBits.merge(signBits) { $1 }
        names.indexes = indexes
        return names
    }

    func table(of root: Entity) -> String { recordedTable(of: root) ?? root.name }

    func column(of property: Property) -> String { recordedColumn(of: property) ?? property.name }

    func positionColumn(of relationship: Relationship) -> String {
        recordedPositionColumn(of: relationship) ?? relationship.name
    }

    func joinTable(of relationship: Relationship) -> String {
        let isInverse = relationship.placement == .joinTable(isCanonical: false)
        let canonical = isInverse ? relationship.inverse ?? relationship : relationship
        return recordedJoinTable(of: canonical) ?? canonical.name
    }

    // MARK: Recorded names; nil if there is no record

    func recordedTable(of root: Entity) -> String? { tables[root.name] }

    func recordedColumn(of property: Property) -> String? { columns[property.declaringEntityName]?[property.name] }

    func recordedPositionColumn(of relationship: Relationship) -> String? {
        positionColumns[relationship.source.name]?[relationship.name]
    }

    func recordedJoinTable(of canonical: Relationship) -> String? {
        joinTables[canonical.source.name]?[canonical.name]
    }

    func recordedCode(of entity: Entity) -> Int64? { codes[entity.name] }

    /// The names of the entities and properties of a model, without the names of indexes.
    func limited(to model: ManagedObjectModel) -> SchemaNames {
        var names = self
        names.indexes = []
        let properties = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.propertiesByName) })
        func limit<T>(_ values: [String: [String: T]]) -> [String: [String: T]] {
            values.compactMap { entity, values in
                let kept = values.filter { properties[entity]?[$0.key] != nil }
                return kept.isEmpty ? nil : (entity, kept)
            }.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        names.tables = tables.filter { properties[$0.key] != nil }
        names.codes = codes.filter { properties[$0.key] != nil }
        names.columns = limit(columns)
        names.positionColumns = limit(positionColumns)
        names.signBits = limit(signBits)
        // The model may lack the relationship that is the canonical side of a table of pairs.
        names.joinTables = [:]
        return names
    }

    /// Whether other names differ from these only in the indexes.
    func differsInIndexesOnly(from other: SchemaNames) -> Bool {
        var names = self
        names.indexes = other.indexes
        return names == other
    }

    func signBit(of property: Property) -> Int? { signBits[property.declaringEntityName]?[property.name] }

    func code(of entity: Entity) -> Int64 { codes[entity.name] ?? 0 }
}

/// Names that all differ, without regard to the case of ASCII letters, which SQLite ignores.
struct UniqueNames {
    private var taken: Set<String>

    init(_ taken: some Sequence<String> = EmptyCollection()) {
        self.taken = Set(taken.map(SQL.foldedName))
    }

    /// The names of tables, and the names of the objects that belong to indexes.
    init(_ tables: UniqueNames, _ indexes: [SchemaNames.IndexName]) {
        self = tables
        for index in indexes { _ = add(index.name, suffixes: index.index.suffixes) }
    }

    /// Adds a name, unless it is taken.
    ///
    /// - Returns: Whether it was free.
    mutating func add(ifFree name: String) -> Bool { taken.insert(SQL.foldedName(name)).inserted }

    /// Adds the name, or the name with the first free number as suffix.
    ///
    /// - Parameter suffixes: The suffixes of further names, which must be free, too.
    mutating func add(_ name: String, suffixes: [String] = []) -> String {
        let name = SQL.withoutNulls(name)
        var candidate = name
        var number = 2
        while true {
            let names = ([""] + suffixes).map { SQL.foldedName(candidate + $0) }
            if taken.isDisjoint(with: names) {
                taken.formUnion(names)
                return candidate
            }
            candidate = "\(name)_\(number)"
            number += 1
        }
    }
}

extension Property {
    /// The name of the entity that declares the property.
    var declaringEntityName: String {
        switch self {
        case .attribute(let attribute): attribute.declaringEntityName
        case .relationship(let relationship): relationship.source.name
        }
    }
}

extension FetchIndexDescription.Kind {
    /// The prefix of the names of indexes over these properties.
    fileprivate var name: String {
        switch self {
        case .binary: "index"
        case .rtree: "rtree"
        case .fullText: "fulltext"
        }
    }
}

extension FetchIndexDescription {
    /// The suffixes of the names of further tables, views and indexes that belong to the index.
    var suffixes: [String] {
        guard case .fullText = kind else { return shadowSuffixes }
        return shadowSuffixes + [FullTextIndex.textSuffix] + properties.indices.map(FullTextIndex.otherSuffix)
    }

    /// The suffixes of the names of the shadow tables.
    fileprivate var shadowSuffixes: [String] {
        switch kind {
        case .binary: []
        case .rtree: ["_node", "_parent", "_rowid"]
        case .fullText: ["_config", "_content", "_data", "_docsize", "_idx"]
        }
    }
}
