import EncryptedSQLite
import Foundation
import ObjectGraph

/// The layout of a model's entities and relationships in tables: names, columns and their contents.
///
/// | model | store |
/// |---|---|
/// | root entity | a table with the columns of all its subentities |
/// | attribute, to-one relationship | a column of that table |
/// | to-many with a to-one inverse | the inverse's column, with an index |
/// | other to-many | a join table, shared with the inverse |
struct StoreSchema: Sendable {
    /// The model.
    let model: ManagedObjectModel
    /// The names in use.
    let names: SchemaNames
    /// The table of each entity, which is the table of its root, at its `Entity.index`.
    let tables: [EntityTable]
    /// The join table of each relationship that has one, at its `Relationship.index`.
    let joinTables: [JoinTable?]
    /// The declared indexes that the store has.
    private(set) var indexes: [SchemaIndex]
    /// The R*Trees that contain all objects of an entity, at its `Entity.index`.
    private var coordinateIndexes: [[CoordinateIndex]] = []
    /// The full-text indexes that contain all objects of an entity, at its `Entity.index`.
    private var fullTextIndexes: [[FullTextIndex]] = []
    /// The properties of the file's state.
    private(set) var conditions = FileConditions()
    /// The entities and properties that the tables hold beside the model; nil if they hold nothing else.
    let aside: AsideLayout?

    /// The schema of everything that the tables hold.
    var ofFile: StoreSchema { aside?.schema.with(conditions) ?? self }

    /// Lays out a model, under the names that a store recorded or, for a new store, under new names.
    ///
    /// A store need not hold all entities of the model. The remaining entities are laid out as well, but never used.
    ///
    /// - Parameters:
    ///   - sources: The subqueries in place of the tables of another model; nil for the model's own tables.
    ///   - file: The model of the tables, which includes the part of the model that the store holds; nil if the tables
    ///     hold nothing else.
    init(
        model: ManagedObjectModel,
        names recorded: SchemaNames? = nil,
        sources: TableSources? = nil,
        file: ManagedObjectModel? = nil
    ) {
        let names = recorded?.completed(for: model) ?? SchemaNames(model: model)
        self.model = model
        self.names = names
        var byRoot: [Int: EntityTable] = [:]
        for entity in model.entities where entity.isRoot {
            byRoot[entity.index] = EntityTable(
                root: entity,
                names: names,
                source: sources?.tables[entity.name],
                inFile: file?.entitiesByName[entity.name]
            )
        }
        tables = model.entities.map { byRoot[$0.rootIndex]! }
        joinTables = model.relationships.map { relationship in
            JoinTable(
                relationship,
                names: names,
                source: sources?.joinTables[names.joinTable(of: relationship)],
                inFile: file?.relationship(like: relationship)
            )
        }
        aside = file.map { AsideLayout(of: $0, beyond: model, names) }
        indexes = []
        setIndexes(names.indexes)
    }

    /// The schema in a state of its file.
    func with(_ conditions: FileConditions) -> StoreSchema {
        var schema = self
        schema.conditions = conditions
        if !conditions.missingIndexes.isEmpty {
            schema.setIndexes(names.indexes.filter { !conditions.missingIndexes.contains($0) })
        }
        return schema
    }

    private mutating func setIndexes(_ names: [SchemaNames.IndexName]) {
        let tables = tables
        let indexes = names.compactMap { SchemaIndex($0, model: model) { tables[$0.index] } }
        self.indexes = indexes
        coordinateIndexes = model.entities.map { entity in
            indexes.compactMap {
                if case .rtree(let index) = $0, entity.isKind(of: index.indexed.entity) { index } else { nil }
            }
        }
        fullTextIndexes = model.entities.map { entity in
            indexes.compactMap {
                if case .fullText(let index) = $0, entity.isKind(of: index.indexed.entity) { index } else { nil }
            }
        }
    }

    func table(of entity: Entity) -> EntityTable { tables[entity.index] }

    func coordinateIndexes(of entity: Entity) -> [CoordinateIndex] { coordinateIndexes[entity.index] }

    func fullTextIndexes(of entity: Entity) -> [FullTextIndex] { fullTextIndexes[entity.index] }

    /// Whether the table of an entity has indexes, apart from the index of its primary key.
    func hasIndexes(_ entity: Entity) -> Bool {
        let family = model.entities.filter { $0.rootIndex == entity.rootIndex }
        return family.contains { entity in
            !entity.uniquenessConstraints.isEmpty || entity.relationships.contains { !$0.isToMany }
                || names.indexes.contains { $0.entity == entity.name }
        }
    }

    /// Whether triggers run for each row of an entity's table that is inserted or deleted. They update the indexes that
    /// are virtual tables.
    func hasTriggers(_ entity: Entity) -> Bool {
        model.entities.contains { other in
            other.rootIndex == entity.rootIndex
                && !(coordinateIndexes[other.index].isEmpty && fullTextIndexes[other.index].isEmpty)
        }
    }

    /// The column of a to-one relationship, or of the to-one inverse of a to-many relationship.
    func keyColumn(of relationship: Relationship) -> Column {
        guard let column = table(of: relationship.source).column(of: .relationship(relationship)) else {
            preconditionFailure("a to-one relationship has a column")
        }
        return column
    }

    /// The rows that hold the members of a to-many relationship; nil for a relationship that is not stored.
    func memberRows(of relationship: Relationship) -> MemberRows? {
        if let pairs = joinTables[relationship.index] {
            return MemberRows(table: pairs.name, owner: pairs.owner, member: pairs.member, position: pairs.position)
        }
        guard let inverse = relationship.inverse else { return nil }
        let members = table(of: relationship.destination)
        return MemberRows(
            table: members.name,
            owner: keyColumn(of: inverse).name,
            member: #""_id""#,
            position: members.positionColumns[relationship]
        )
    }
}

/// The rows that hold the members of a to-many relationship: pairs of a join table, or the members themselves.
struct MemberRows: Sendable {
    /// The name of the table, quoted.
    let table: String
    /// The column with the key of the owner, quoted.
    let owner: String
    /// The column with the key of the member, quoted.
    let member: String
    /// The column with the position of the member, quoted; nil if the relationship is not ordered.
    let position: String?
}

/// A column that holds an attribute or a to-one relationship.
struct Column: Hashable, Sendable {
    /// The name, quoted.
    let name: String
    let storage: AttributeType.Storage
    let property: Property
    /// For a column of reals, its bit in the ``VersionWord``; nil for other columns, and for reals beyond the number of
    /// bits.
    let signBit: Int?

    /// Whether a fetch may defer reading large values of the column.
    var isDeferrable: Bool {
        guard case .attribute(let attribute) = property else { return false }
        return attribute.description.allowsExternalStorage && attribute.type.storage == .blob
    }
}

/// The table of a root entity.
final class EntityTable: Sendable {
    /// The root entity.
    let root: Entity
    /// The name, quoted; for a store that is read with another model, a subquery in parentheses that has the rows.
    let name: String
    /// The name, quoted.
    let recordedName: String
    /// The columns, one for each property, in the order in which the entities declare them.
    let columns: [Column]
    /// Whether the table has the column `_entity`, which distinguishes the rows of subentities.
    let hasEntityColumn: Bool
    /// The value of `_entity` for each entity of the family.
    let codes: [Entity: Int64]
    /// The further values of `_entity` in rows that are objects of an entity: the values of subentities that the model does
    /// not have.
    let adoptedCodes: [Entity: [Int64]]
    /// The column of the position, for each ordered to-many relationship that leads to the table's entities.
    let positionColumns: [Relationship: String]

    /// The bits of the version word of columns that the model does not have.
    let otherSignBits: Int64

    private let entitiesByCode: [Int64: Entity]
    private let positions: [Property: Int]

    /// - Parameter fileRoot: The root entity in the model of the file's tables, if it is another entity.
    init(root: Entity, names: SchemaNames, source: String? = nil, inFile fileRoot: Entity? = nil) {
        self.root = root
        recordedName = SQL.quoted(names.table(of: root))
        name = source ?? recordedName
        hasEntityColumn = (fileRoot ?? root).family.count > 1
        codes = Dictionary(uniqueKeysWithValues: root.family.map { ($0, names.code(of: $0)) })
        adoptedCodes = fileRoot.map { AsideLayout.adoptedCodes(of: $0, by: root, names) } ?? [:]
        entitiesByCode = Dictionary(
            codes.map { ($1, $0) } + adoptedCodes.flatMap { entity, codes in codes.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first }
        )
        var columns: [Column] = []
        var seen: Set<Property> = []
        for property in root.family.lazy.flatMap(\.properties) where seen.insert(property).inserted {
            let storage: AttributeType.Storage
            switch property {
            case .attribute(let attribute): storage = attribute.type.storage
            case .relationship(let relationship) where relationship.isToMany: continue
            case .relationship: storage = .integer
            }
            columns.append(
                Column(
                    name: SQL.quoted(names.column(of: property)),
                    storage: storage,
                    property: property,
                    signBit: storage == .real ? names.signBit(of: property) : nil
                )
            )
        }
        // The sort is stable, and large values come last, so that SQLite does not read past them to reach other
        // columns.
        self.columns = columns.filter { !$0.isDeferrable } + columns.filter(\.isDeferrable)
        positions = Dictionary(uniqueKeysWithValues: self.columns.enumerated().map { ($1.property, $0) })
        let bits = Set((fileRoot?.family ?? []).flatMap { names.signBits[$0.name, default: [:]].values })
        otherSignBits = bits.subtracting(columns.compactMap(\.signBit)).reduce(0) { $0 | VersionWord.mask(of: $1) }
        let toOnes = columns.compactMap { column -> Relationship? in
            if case .relationship(let relationship) = column.property { relationship } else { nil }
        }
        positionColumns = Dictionary(
            uniqueKeysWithValues: toOnes.compactMap { toOne in
                guard let inverse = toOne.inverse, inverse.isToMany, inverse.isOrdered else { return nil }
                return (inverse, SQL.quoted(names.positionColumn(of: inverse)))
            }
        )
    }

    /// The values of `_entity` in the rows of some entities, ascending.
    func codes(of entities: [Entity]) -> [Int64] {
        entities.flatMap { entity in (codes[entity].map { [$0] } ?? []) + (adoptedCodes[entity] ?? []) }.sorted()
    }

    /// The same values as text, separated by commas.
    func codeList(of entities: [Entity]) -> String { codes(of: entities).map(String.init).joined(separator: ", ") }

    func column(of property: Property) -> Column? { positions[property].map { columns[$0] } }

    /// The position of a property's column in ``columns``.
    func position(of property: Property) -> Int? { positions[property] }

    /// The identifier of the object in the current row of a statement.
    ///
    /// - Parameter entityColumn: The index of `_entity`, if the table has it. `_id` is the first column.
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` for a number that cannot be a key, and for a number
    ///   that belongs to no entity.
    func id(of row: borrowing Statement, entityColumn: Int32, storeUUID: UUID) throws -> ManagedObjectID {
        let key = row.integer(at: 0)
        guard key.isPrimaryKey else { throw SealedStoreError.damagedRow(entity: root.name, property: "_id") }
        var entity = root
        if hasEntityColumn {
            let code = row.integer(at: entityColumn)
            guard let found = entitiesByCode[code], !found.isAbstract else {
                throw SealedStoreError.damagedRow(entity: root.name, property: "_entity")
            }
            entity = found
        }
        return ManagedObjectID(entity: entity, storeUUID: storeUUID, key: key)
    }
}

/// The table of the pairs of a many-to-many relationship, or of a to-many relationship without inverse.
struct JoinTable: Sendable {
    /// The name, quoted, or a subquery: see ``EntityTable/name``.
    let name: String
    /// The column with the keys of the relationship's owners, quoted.
    let owner: String
    /// The column with the keys of the relationship's members, quoted.
    let member: String
    /// The column that orders the members of an owner, quoted; nil if the relationship is not ordered.
    let position: String?
    /// Whether the relationship is its own inverse: each pair then has an opposite pair.
    let isSymmetric: Bool
    /// Adds a pair, by the keys of the owner and of the member.
    let insertion: SQLText
    /// Adds ``blockCount`` pairs. SQLite needs 60 % of the time that a statement for each pair would take.
    let blockInsertion: SQLText
    /// Removes a pair.
    let deletion: SQLText

    /// The number of pairs of a block.
    static let blockCount = 16

    static let canonicalOwner = SQL.quoted("source")
    static let canonicalMember = SQL.quoted("target")

    /// - Parameter fileRelationship: The relationship in the model of the file's tables, if it is another relationship.
    init?(
        _ relationship: Relationship,
        names: SchemaNames,
        source: String? = nil,
        inFile fileRelationship: Relationship? = nil
    ) {
        let stored = fileRelationship ?? relationship
        guard case .joinTable(let isCanonical) = stored.placement else { return nil }
        name = source ?? SQL.quoted(names.joinTable(of: stored))
        owner = isCanonical ? Self.canonicalOwner : Self.canonicalMember
        member = isCanonical ? Self.canonicalMember : Self.canonicalOwner
        position =
            relationship.isOrdered
            ? SQL.quoted(isCanonical ? "target_position" : "source_position") : nil
        isSymmetric = relationship.inverse === relationship
        let beginning = "INSERT OR IGNORE INTO \(name) (\(owner), \(member)) VALUES "
        insertion = SQLText(beginning + "(?, ?)")
        blockInsertion = SQLText(beginning + Array(repeating: "(?, ?)", count: Self.blockCount).joined(separator: ", "))
        deletion = SQLText("DELETE FROM \(name) WHERE \(owner) = ? AND \(member) = ?")
    }
}
