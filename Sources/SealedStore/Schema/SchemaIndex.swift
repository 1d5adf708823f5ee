import ObjectGraph

/// An index of a store that a program has declared.
enum SchemaIndex: Sendable {
    case binary(BinaryIndex)
    case rtree(CoordinateIndex)
    case fullText(FullTextIndex)

    /// - Returns: Nil if the declaring entity or a property is not in the model.
    init?(_ index: SchemaNames.IndexName, model: ManagedObjectModel, table: (Entity) -> EntityTable) {
        guard let entity = model.entitiesByName[index.entity],
            let indexed = IndexedTable(entity, table(entity), index.index.properties)
        else { return nil }
        switch index.index.kind {
        case .binary: self = .binary(BinaryIndex(name: index.name, indexed))
        case .rtree: self = .rtree(CoordinateIndex(name: index.name, indexed))
        case .fullText(let options): self = .fullText(FullTextIndex(name: index.name, indexed, options))
        }
    }

    /// The virtual table of an R-tree or a full-text index, quoted; nil for other indexes.
    var virtualTable: String? {
        switch self {
        case .binary: nil
        case .rtree(let index): index.table
        case .fullText(let index): index.table
        }
    }

    /// The statements that create the empty index.
    var creation: [String] {
        switch self {
        case .binary(let index): index.creation
        case .rtree(let index): index.creation
        case .fullText(let index): index.creation
        }
    }

    /// The statements that fill the index from the existing rows.
    var population: [String] {
        switch self {
        case .binary: []
        case .rtree(let index): index.population
        case .fullText(let index): index.population
        }
    }

    /// The statements that remove the index.
    var removal: [String] {
        switch self {
        case .binary(let index): index.removal
        case .rtree(let index): index.removal
        case .fullText(let index): index.removal
        }
    }
}

/// The rows and columns that an index is built over.
struct IndexedTable: Sendable {
    /// The entity whose objects, including objects of its subentities, are in the index.
    let entity: Entity
    /// The name of the table, quoted.
    let table: String
    let columns: [Column]
    /// The numbers of the entities, separated by commas; nil if all rows of the table are in the index.
    let codes: String?

    init?(_ entity: Entity, _ table: EntityTable, _ properties: [String]) {
        let columns = properties.compactMap { entity.propertiesByName[$0].flatMap(table.column) }
        guard columns.count == properties.count, !columns.isEmpty else { return nil }
        self.entity = entity
        self.table = table.name
        self.columns = columns
        codes = entity.isRoot ? nil : table.codeList(of: entity.family)
    }

    /// The columns' names, separated by commas.
    var columnList: String { columns.map(\.name).joined(separator: ", ") }

    /// The columns of a row, separated by commas.
    func columnList(of row: String) -> String { columns.map { "\(row).\($0.name)" }.joined(separator: ", ") }

    /// The conditions under which a row is in the index.
    func conditions(on row: String) -> [String] { codes.map { [#"\#(row)."_entity" IN (\#($0))"#] } ?? [] }

    /// The columns whose changes affect the index.
    var watchedColumns: String {
        ([#""_id""#] + (codes == nil ? [] : [#""_entity""#]) + columns.map(\.name)).joined(separator: ", ")
    }
}

extension [String] {
    /// The conditions, joined by AND, after a keyword; empty if there are none.
    func joined(behind keyword: String) -> String {
        isEmpty ? "" : " \(keyword) \(joined(separator: " AND "))"
    }
}
