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

    /// Names everything of a model, in the order of its declarations.
    init(model: ManagedObjectModel) {
        var tableNames = UniqueNames()
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
    }

    /// Takes the names over that a store recorded.
    mutating func replace(by recorded: SchemaNames) {
        tables.merge(recorded.tables) { $1 }
        columns.merge(recorded.columns) { $1 }
        positionColumns.merge(recorded.positionColumns) { $1 }
        joinTables.merge(recorded.joinTables) { $1 }
        codes.merge(recorded.codes) { $1 }
        signBits.merge(recorded.signBits) { $1 }
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

    /// Names that all differ, also where the case of ASCII letters is ignored, as SQLite does.
    private struct UniqueNames {
        private var taken: Set<String> = []

        /// The name, or the name with the first free number behind it.
        mutating func add(_ name: String) -> String {
            var candidate = name
            var number = 2
            while !taken.insert(SQL.foldedName(candidate)).inserted {
                candidate = "\(name)_\(number)"
                number += 1
            }
            return candidate
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
