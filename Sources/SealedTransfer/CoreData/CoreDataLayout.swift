import EncryptedSQLite
import Foundation
import ObjectGraph

/// The places of a model's entities and properties in a store of Core Data or SwiftData.
///
/// Core Data has one table for a root entity and its descendants: `Z` and the name in capitals. Its columns are `Z_PK`,
/// the key; `Z_ENT`, the number of the entity in `Z_PRIMARYKEY`; `Z_OPT`, the version; and for each attribute and
/// to-one relationship `Z` and the name in capitals, with a number behind it if several subentities have a property of
/// that name. The column `Z_FOK_` and the name of a to-one relationship has the position in an ordered inverse.
///
/// A many-to-many relationship is a table `Z_`, the number of one entity, and the name of its relationship. The column
/// with the keys of one side has the number of that side's entity and the name of the relationship that leads to it.
struct CoreDataLayout {
    /// The table of a root entity.
    struct EntityTable {
        let root: Entity
        let name: DatabaseName
        /// All columns of the table, in capitals.
        let columns: [String]
        /// The names of the columns in the file.
        let columnNames: [DatabaseName]
        /// The columns of attributes and to-one relationships.
        var properties: [Property: String] = [:]
        /// The empty columns of properties that share a name: no row shows which column belongs to which property.
        var emptyColumns: Set<String> = []
        /// The columns of positions, by the ordered to-many relationship whose members the rows are.
        var positions: [Relationship: String] = [:]
        /// The columns of to-many relationships without an inverse, whose members the rows are.
        var oneWayOwners: [Relationship: String] = [:]
        /// The use of external storage by the binary attributes.
        var externalStorage: [Property: ExternalStorage] = [:]

        /// The name of a column in the file.
        func name(of column: String) -> DatabaseName {
            columns.firstIndex(of: column).map { columnNames[$0] } ?? DatabaseName(column)
        }
    }

    /// The table of a many-to-many relationship.
    struct PairTable {
        let relationship: Relationship
        let name: DatabaseName
        let owner: String
        let member: String
        /// The column of the member's position among the owner's members.
        let memberPosition: String?
        /// The column of the owner's position among the members of the inverse.
        let ownerPosition: String?
    }

    let model: ManagedObjectModel
    /// The entities by their numbers in the file. Numbers of entities that the model does not have are missing.
    private(set) var entities: [Int64: Entity] = [:]
    private(set) var tables: [EntityTable] = []
    private(set) var pairs: [PairTable] = []
    /// The tables and columns that the model does not have, one line each.
    private(set) var notImported: [String] = []
    /// The properties and entities that the file does not have.
    private(set) var missing: [(entity: String, property: String)] = []

    /// The names of all entities of the file by number.
    private var names: [Int64: String] = [:]
    private let structure: DatabaseStructure
    private var usedTables = Set(Self.ownTables)

    /// The tables of Core Data that hold no objects: the tables of its metadata and of a persistent history.
    static let ownTables: [DatabaseName] = [
        "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
    ]

    /// - Throws: ``TransferError/unsupported(_:)`` for a database that is not a store of Core Data, and for columns whose
    ///   properties cannot be distinguished.
    init(_ connection: Connection, _ model: ManagedObjectModel, _ limits: TransferLimits) throws {
        self.model = model
        structure = try DatabaseStructure(connection, limits)
        guard structure.table("Z_PRIMARYKEY") != nil, structure.table("Z_METADATA") != nil else {
            throw TransferError.unsupported("a database without the tables of Core Data")
        }
        try readEntities(connection)
        for root in model.entities where root.isRoot { try findTable(of: root, connection) }
        for relationship in model.relationships { findPairs(of: relationship) }
        for table in tables { note(unusedColumnsOf: table) }
        for table in structure.tables where !usedTables.contains(table.name) {
            notImported.append("\(table.name.text): the model has nothing for this table")
        }
    }

    private mutating func readEntities(_ connection: Connection) throws {
        try connection.withStatement("SELECT Z_ENT, Z_NAME FROM main.Z_PRIMARYKEY") { row in
            while try row.step() { names[row.integer(at: 0)] = row.string(at: 1) }
        }
        for entity in model.entities {
            let names = [entity.name, entity.description.renamingIdentifier].compactMap(\.self)
            for (number, name) in self.names where names.contains(name) { entities[number] = entity }
        }
        for entity in model.entities where !entities.values.contains(entity) && !entity.isAbstract {
            missing.append((entity.name, "*"))
        }
    }

    /// The numbers of an entity, its ancestors and its descendants in the file.
    private func numbers(of entity: Entity) -> [Int64] {
        entities.filter { $0.value.isKind(of: entity) || entity.isKind(of: $0.value) }.map(\.key).sorted()
    }

    // MARK: Tables

    /// The first table that has one of several names.
    private func table(named names: [String]) -> DatabaseStructure.Table? {
        for name in names {
            if let table = structure.table(DatabaseName(name)) { return table }
        }
        return nil
    }

    private static func names(_ property: Property) -> [String] {
        let earlier =
            switch property {
            case .attribute(let attribute): attribute.description.renamingIdentifier
            case .relationship(let relationship): relationship.description.renamingIdentifier
            }
        return [property.name.uppercased()] + (earlier.map { [$0.uppercased()] } ?? [])
    }

    private mutating func findTable(of root: Entity, _ connection: Connection) throws {
        let names = [root.name, root.description.renamingIdentifier].compactMap { $0.map { "Z" + $0.uppercased() } }
        guard let found = table(named: names) else {
            if !missing.contains(where: { $0.entity == root.name }) { missing.append((root.name, "*")) }
            return
        }
        guard found.column("Z_PK") != nil, found.column("Z_ENT") != nil else {
            throw TransferError.unsupported("a database without the columns of Core Data")
        }
        usedTables.insert(found.name)
        let columnNames = found.columns.filter { !$0.isGenerated }.map(\.name)
        let columns = columnNames.map { $0.text.uppercased() }
        var table = EntityTable(root: root, name: found.name, columns: columns, columnNames: columnNames)
        var properties: [Property] = []
        for property in root.family.flatMap(\.properties) where !properties.contains(property) {
            if case .relationship(let relationship) = property, relationship.isToMany { continue }
            properties.append(property)
        }
        try match(properties, in: &table, connection)
        try findExternalStorage(of: &table, connection)
        for relationship in model.relationships
        where relationship.isToMany && relationship.destination.rootIndex == root.index {
            if relationship.isOrdered, let inverse = relationship.inverse, !inverse.isToMany {
                table.positions[relationship] = columns.first { $0 == "Z_FOK_" + inverse.name.uppercased() }
            }
            guard relationship.inverse == nil else { continue }
            for number in numbers(of: relationship.source) {
                let name = "\(number)" + relationship.name.uppercased()
                guard columns.contains("Z" + name) else { continue }
                table.oneWayOwners[relationship] = "Z" + name
                table.positions[relationship] = columns.first { $0 == "Z_FOK_" + name }
            }
        }
        tables.append(table)
    }

    /// Finds the columns of properties. Properties of several subentities can have the same name; then the entities of
    /// the rows with values distinguish their columns, which have numbers behind the name.
    ///
    /// A property without namesakes has the column of its name: a column with a number belongs to another property.
    private mutating func match(
        _ properties: [Property],
        in table: inout EntityTable,
        _ connection: Connection
    ) throws {
        let exact = Set(properties.map { "Z" + $0.name.uppercased() })
        var groups: [String: [Property]] = [:]
        for property in properties { groups[property.name.uppercased(), default: []].append(property) }
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            if group.count == 1 {
                let names = Self.names(group[0]).map { "Z" + $0 }
                table.properties[group[0]] = names.first(where: table.columns.contains)
            } else {
                let candidates = table.columns.filter { column in
                    guard column.hasPrefix("Z" + name), column == "Z" + name || !exact.contains(column) else {
                        return false
                    }
                    return column.dropFirst(name.count + 1).allSatisfy { $0.isASCII && $0.isNumber }
                }
                try tellApart(group, candidates, in: &table, connection)
            }
            let open = group.filter { table.properties[$0] == nil }
            // If there is an empty column for each of these properties, none of them is missing.
            let empty = table.emptyColumns.filter { column in
                column.hasPrefix("Z" + name)
                    && column.dropFirst(name.count + 1).allSatisfy { $0.isASCII && $0.isNumber }
            }
            if open.count <= empty.count { continue }
            for property in open {
                missing.append((property.declaringEntityName ?? table.root.name, property.name))
            }
        }
    }

    private mutating func findExternalStorage(of table: inout EntityTable, _ connection: Connection) throws {
        for (property, column) in table.properties.sorted(by: { $0.value < $1.value }) {
            guard case .attribute(let attribute) = property, attribute.type == .data else { continue }
            let name = table.name(of: column)
            let (storage, isGuessed) = try ExternalStorage.examine(name, of: table.name, for: attribute, connection)
            table.externalStorage[property] = storage
            guard isGuessed else { continue }
            notImported.append(
                """
                \(table.name.text).\(column): imported with the byte 1 at the beginning of each value; if the program \
                used external storage, the attribute needs that option for the import
                """
            )
        }
    }

    private func tellApart(
        _ group: [Property],
        _ candidates: [String],
        in table: inout EntityTable,
        _ connection: Connection
    ) throws {
        var owners: [String: Set<Int64>] = [:]
        for column in candidates {
            let name = table.name(of: column).quoted
            let sql = "SELECT DISTINCT Z_ENT FROM main.\(table.name.quoted) WHERE \(name) IS NOT NULL"
            try connection.withUncachedStatement(sql) { row in
                while try row.step() { owners[column, default: []].insert(row.integer(at: 0)) }
            }
        }
        table.emptyColumns.formUnion(candidates.filter { owners[$0] == nil })
        var open = group
        var columns = candidates.filter { owners[$0] != nil }
        // Repeatedly takes a column with only one property that can have its values.
        while let (column, property) = firstMatch(columns, open, owners) {
            table.properties[property] = column
            columns.removeAll { $0 == column }
            open.removeAll { $0 == property }
        }
        guard columns.allSatisfy({ column in !open.contains { fits($0, owners[column] ?? []) } }) else {
            let names = open.map { "\($0.declaringEntityName ?? "").\($0.name)" }.joined(separator: " and ")
            throw TransferError.unsupported("a table in which the columns of \(names) cannot be distinguished")
        }
    }

    /// The first column with only one property that can have its values.
    private func firstMatch(
        _ columns: [String],
        _ open: [Property],
        _ owners: [String: Set<Int64>]
    ) -> (column: String, property: Property)? {
        for column in columns {
            let fitting = open.filter { fits($0, owners[column] ?? []) }
            if fitting.count == 1 { return (column, fitting[0]) }
        }
        return nil
    }

    /// Whether all entities of rows have a property.
    private func fits(_ property: Property, _ numbers: Set<Int64>) -> Bool {
        numbers.allSatisfy { entities[$0]?.properties.contains(property) ?? false }
    }

    private mutating func note(unusedColumnsOf table: EntityTable) {
        let used = Set(table.properties.values).union(table.emptyColumns).union(table.positions.values)
            .union(table.oneWayOwners.values)
        for column in table.columns where !used.contains(column) {
            // Z_PK, Z_ENT, Z_OPT, positions, and the entities of destinations such as Z3_OWNER.
            let rest = column.dropFirst().drop { $0.isNumber }
            if !rest.hasPrefix("_") {
                notImported.append("\(table.name.text).\(column): the model has nothing for this column")
            }
        }
    }

    // MARK: Many-to-many relationships

    private mutating func findPairs(of relationship: Relationship) {
        guard relationship.placement == .joinTable(isCanonical: true) else { return }
        if tables.contains(where: { $0.oneWayOwners[relationship] != nil }) { return }
        var names = numbers(of: relationship.source).map { "Z_\($0)" + relationship.name.uppercased() }
        if let inverse = relationship.inverse {
            names += numbers(of: inverse.source).map { "Z_\($0)" + inverse.name.uppercased() }
        }
        guard let table = table(named: names) else {
            missing.append((relationship.source.name, relationship.name))
            return
        }
        let columns = table.columns.map { $0.name.text.uppercased() }
        let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
        let member = keys.first { matches($0, relationship.name, relationship.destination) }
        let owner = keys.first { column in
            guard column != member else { return false }
            guard let inverse = relationship.inverse, inverse !== relationship else { return true }
            return matches(column, inverse.name, relationship.source)
        }
        guard keys.count == 2, let member, let owner else { return }
        usedTables.insert(table.name)
        pairs.append(
            PairTable(
                relationship: relationship,
                name: table.name,
                owner: owner,
                member: member,
                memberPosition: columns.first { $0 == "Z_FOK_" + member.dropFirst(2) },
                ownerPosition: columns.first { $0 == "Z_FOK_" + owner.dropFirst(2) }
            )
        )
    }

    /// Whether a column has the number of an entity and the name of the relationship that leads to it.
    private func matches(_ column: String, _ name: String, _ entity: Entity) -> Bool {
        numbers(of: entity).contains { number in
            let beginning = "Z_\(number)" + name.uppercased()
            return column.hasPrefix(beginning)
                && column.dropFirst(beginning.count).allSatisfy { $0.isASCII && $0.isNumber }
        }
    }
}

extension Property {
    /// The name of the entity that declares the property.
    var declaringEntityName: String? {
        switch self {
        case .attribute(let attribute): attribute.declaringEntityName
        case .relationship(let relationship): relationship.source.name
        }
    }
}
