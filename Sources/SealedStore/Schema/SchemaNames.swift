import ObjectGraph

/// The names of tables and columns, and the numbers of entities and columns, as a store records them when it is created.
///
/// A name is kept as the program wrote it, unless it begins with an underscore or with `sqlite_`, which are the store's
/// and SQLite's own, or another one differs from it in case only. Then `x` is put in front, or a number behind.
struct SchemaNames: Codable, Hashable, Sendable {
    /// Table names of root entities by entity name.
    private var tables: [String: String] = [:]
    /// Column names by the name of the declaring entity and the property.
    private var columns: [String: [String: String]] = [:]
    /// Names of the columns that order to-many relationships, by the name of the declaring entity and the relationship.
    private var positionColumns: [String: [String: String]] = [:]
    /// Join table names by the name of the declaring entity and the canonical relationship.
    private var joinTables: [String: [String: String]] = [:]
    /// The number of each entity.
    private var codes: [String: Int64] = [:]
    /// The bits of columns of reals in the ``VersionWord``, by the name of the declaring entity and the property.
    private var signBits: [String: [String: Int]] = [:]
    /// The declared indexes that the store has.
    private(set) var indexes: [IndexName] = []

    /// An index with its name.
    struct IndexName: Codable, Hashable, Sendable {
        /// The name of the entity that declares the index.
        let entity: String
        let index: FetchIndexDescription
        /// The name of the index or of its virtual table; those of what belongs to it begin with it.
        let name: String
    }

    /// Names everything of a model, in the order of its declarations.
    init(model: ManagedObjectModel) {
        var tableNames = UniqueNames(["_metadata", "_sequence"])
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
        updateIndexes(to: model, avoiding: tableNames)
    }

    /// Names the indexes that a model declares and the store does not have yet, and forgets those that it does not declare
    /// any more.
    ///
    /// - Parameter names: The names that are taken.
    mutating func updateIndexes(to model: ManagedObjectModel, avoiding names: UniqueNames) {
        var names = names
        var known: [Declaration: IndexName] = [:]
        for index in indexes { known[Declaration(entity: index.entity, index: index.index)] = index }
        indexes = []
        var seen: Set<Declaration> = []
        for entity in model.entities {
            for index in entity.description.indexes {
                let declaration = Declaration(entity: entity.name, index: index)
                guard seen.insert(declaration).inserted else { continue }
                indexes.append(
                    known[declaration]
                        ?? IndexName(
                            entity: entity.name,
                            index: index,
                            name: names.add(
                                "_\(index.kind.name)_\(entity.name)_\(index.properties.joined(separator: "_"))",
                                suffixes: index.suffixes
                            )
                        )
                )
            }
        }
    }

    private struct Declaration: Hashable {
        let entity: String
        let index: FetchIndexDescription
    }

    /// The names of tables.
    var tableNames: UniqueNames {
        UniqueNames(tables.values + joinTables.values.flatMap(\.values) + ["_metadata", "_sequence"])
    }

    /// The names that a store recorded, and new ones for the entities of a model that the store does not hold.
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

    func table(of root: Entity) -> String { tables[root.name] ?? root.name }

    func column(of property: Property) -> String {
        columns[property.declaringEntityName]?[property.name] ?? property.name
    }

    func positionColumn(of relationship: Relationship) -> String {
        positionColumns[relationship.source.name]?[relationship.name] ?? relationship.name
    }

    func joinTable(of relationship: Relationship) -> String {
        let canonical = relationship.placement == .joinTable(isCanonical: false) ? relationship.inverse! : relationship
        return joinTables[canonical.source.name]?[canonical.name] ?? canonical.name
    }

    func signBit(of property: Property) -> Int? { signBits[property.declaringEntityName]?[property.name] }

    func code(of entity: Entity) -> Int64 { codes[entity.name] ?? 0 }
}

/// Names that all differ, also where the case of ASCII letters is ignored, as SQLite does.
struct UniqueNames {
    private var taken: Set<String>

    init(_ taken: some Sequence<String> = EmptyCollection()) {
        self.taken = Set(taken.map(SQL.foldedName))
    }

    /// The names of tables, and of what belongs to indexes.
    init(_ tables: UniqueNames, _ indexes: [SchemaNames.IndexName]) {
        self = tables
        for index in indexes { _ = add(index.name, suffixes: index.index.suffixes) }
    }

    /// The name, or the name with the first free number behind it.
    ///
    /// - Parameter suffixes: What further names are made of the name with, which have to be free as well.
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
    /// What names of such indexes begin with.
    fileprivate var name: String {
        switch self {
        case .binary: "index"
        case .rtree: "rtree"
        case .fullText: "fulltext"
        }
    }
}

extension FetchIndexDescription {
    /// The ends of the names of further tables, views and indexes that belong to one.
    fileprivate var suffixes: [String] {
        switch kind {
        case .binary: []
        case .rtree: ["_node", "_parent", "_rowid"]
        case .fullText:
            ["_config", "_content", "_data", "_docsize", "_idx", FullTextIndex.textSuffix]
                + properties.indices.map(FullTextIndex.otherSuffix)
        }
    }
}
