import EncryptedSQLite
import Foundation
import ObjectGraph

/// The description of a damaged store, as far as it can be read: its identity, its model, and the places of its tables.
struct DamagedStore {
    /// The table of a root entity or of pairs in the damaged file.
    struct Table {
        /// The first page of its tree; nil if the schema's entry for it is lost.
        let rootPage: Int?
        /// The names of its columns in the order of the values of a row, quoted.
        let columns: [String]
        /// The values that rows without a value for a column have, by column; NULL for others.
        let defaults: [String: Value]
        /// Whether the table certainly has its declaration, and ``columns`` are the columns of its properties.
        let isCertain: Bool
        private let places: [String: Int]
        private let entityPlace: Int?

        init(rootPage: Int?, columns: [String], defaults: [String: Value], isCertain: Bool) {
            self.rootPage = rootPage
            self.columns = columns
            self.defaults = defaults
            self.isCertain = isCertain
            places = Dictionary(columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            entityPlace = places[#""_entity""#]
        }

        /// The place of a column's value in a row; nil if the table does not have the column.
        func place(of column: String) -> Int? { places[column] }

        /// The number of the entity of a row; nil if it is lost.
        func entityNumber(of values: [StoredValue]) -> Int64? {
            guard let entityPlace else { return nil }
            if entityPlace < values.count {
                if case .integer(let number) = values[entityPlace] { return number }
                return nil
            }
            // The row is older than the column, which the table got with its first subentity.
            if case .integer(let number)? = defaults[#""_entity""#] { return number }
            return nil
        }
    }

    /// The schema of all that the tables hold.
    let schema: StoreSchema
    /// The model of the last program, which may have less than ``schema``.
    let model: ManagedObjectModel
    let uuid: UUID
    let modelVersion: ModelVersion?
    /// The number of migrations with which ``schema`` agrees: not 0 if it may have other names than a new store.
    let migrationCount: Int
    /// The columns with texts that are not in normalization form C, as far as they can be read.
    let columnsOfMixedForms: Set<String>
    /// The first keys that each sequence has not reserved, by root entity, as far as they can be read.
    let nextKeys: [String: Int64]
    /// The values in the table of metadata, as far as they can be read.
    let metadata: [String: StoredValue]
    /// Whether no row of the table of metadata is lost.
    let isMetadataComplete: Bool
    /// Whether no object of the schema is lost.
    let isSchemaComplete: Bool
    /// Whether ``schema`` has the names, the numbers of entities and the sign bits of the store. Otherwise it has those
    /// that a new store would have, which can differ in a migrated store.
    let hasKnownNames: Bool
    /// Whether the columns of all tables are in the order of a new store.
    private let hasColumnsInOrder: Bool
    private let objects: [DamagedFile.SchemaObject]

    /// Reads the description.
    ///
    /// - Parameter model: The model, if the model in the file cannot be read or has no table in the file.
    /// - Throws: ``SalvageError``.
    init(_ file: DamagedFile, model given: ManagedObjectModel?) throws {
        guard let found = try file.schema() else { throw SalvageError.firstPageDamaged }
        objects = found.objects
        isSchemaComplete = found.isComplete
        let pairs = try Self.pairs(of: "_metadata", found.objects, file)
        // A store without its metadata keeps the number of its format in the first page.
        guard pairs != nil || !found.isComplete || file.applicationID == Int(StoreFile.applicationID) else {
            throw SalvageError.notAStore
        }
        var (metadata, isMetadataComplete) = (pairs?.values ?? [:], pairs?.isComplete ?? false)
        // A store always has these rows: if one of them was deleted, other rows may have been, too.
        if !StoreMetadataTable.requiredKeys.isSubset(of: metadata.keys) { isMetadataComplete = false }
        var values = MetadataValues(metadata.compactMapValues(\.string))
        if let model = values.union ?? values.model, let given, found.isComplete,
            !Self.hasTable(of: model, values, found.objects),
            Self.hasTable(of: given, MetadataValues([:]), found.objects)
        {
            // The metadata belong to another store.
            (values, metadata, isMetadataComplete) = (MetadataValues([:]), [:], false)
        }
        let visible = values.model
        let stored = values.union ?? visible
        self.metadata = metadata
        self.isMetadataComplete = isMetadataComplete
        guard let model = stored ?? given else { throw SalvageError.modelLost }
        let names = Self.names(for: model, in: values)
        let schema = StoreSchema(model: model, names: names)
        self.schema = schema
        self.model = visible.flatMap { model.includes($0) ? $0 : nil } ?? model
        let mayBeMigrated = metadata[MetadataValues.Key.migrations.rawValue] != nil || !isMetadataComplete
        let isReordered = metadata[StoreMetadataTable.otherOrderKey] != nil
        migrationCount = names == nil ? 0 : values.migrationCount ?? (mayBeMigrated ? 1 : 0)
        let isNew = stored != nil && !mayBeMigrated && !isReordered
        let hasNewTables =
            isNew && schema.tableStatements.isSubset(of: objects.filter { $0.type == "table" }.map(\.statement))
        hasKnownNames = names != nil || hasNewTables
        let hasNewNames = names.map { $0.differsInIndexesOnly(from: SchemaNames(model: model)) } ?? hasNewTables
        hasColumnsInOrder = isNew && hasNewNames
        uuid = values.uuid ?? UUID()
        modelVersion = values.modelVersion
        columnsOfMixedForms = values.columnsOfMixedForms
        nextKeys = (try Self.pairs(of: "_sequence", found.objects, file)?.values ?? [:]).compactMapValues { value in
            if case .integer(let next) = value { next } else { nil }
        }
    }

    /// The record of the names; nil if it is lost, or describes another model.
    private static func names(for model: ManagedObjectModel, in values: MetadataValues) -> SchemaNames? {
        values.names.flatMap { names in (try? names.validate(for: model)) != nil ? names : nil }
    }

    /// Whether the schema has a table for an entity of a model.
    private static func hasTable(
        of model: ManagedObjectModel,
        _ values: MetadataValues,
        _ objects: [DamagedFile.SchemaObject]
    ) -> Bool {
        let schema = StoreSchema(model: model, names: names(for: model, in: values))
        let names = Set(
            model.entities.filter(\.isRoot).map { SQL.foldedName(SQL.unquoted(schema.table(of: $0).name)) }
        )
        return objects.contains { $0.type == "table" && names.contains(SQL.foldedName($0.name)) }
    }

    /// The rows of a table of keys and values, and whether none is lost; nil if the schema has no entry for the table.
    private static func pairs(
        of name: String,
        _ objects: [DamagedFile.SchemaObject],
        _ file: DamagedFile
    ) throws -> (values: [String: StoredValue], isComplete: Bool)? {
        guard let object = objects.first(where: { $0.type == "table" && $0.name == name }) else { return nil }
        var pairs: [String: StoredValue] = [:]
        var isComplete = true
        let losses = try file.readIndex(at: object.rootPage) { values in
            if values.count == 2, let key = values[0].string { pairs[key] = values[1] } else { isComplete = false }
        }
        return (pairs, isComplete && losses.areNone)
    }

    // MARK: Tables

    /// The table of a root entity.
    func table(of root: Entity, on connection: Connection) throws -> Table {
        let table = schema.table(of: root)
        let names = PlainNames(
            table.columns.map { SQL.legalName($0.property.name) }
                + table.positionColumns.keys.map { SQL.withoutNulls("_position_\($0.name)") }
        )
        let columns = table.columns.map(\.name) + table.positionColumns.values
        return try self.table(
            table.name,
            madeBy: SchemaStatements.creation(of: table),
            hasPlainNames: columns.allSatisfy { names.contain(SQL.unquoted($0)) },
            on: connection
        )
    }

    /// The table of the pairs of a relationship; nil if the relationship has no table, or its inverse names the table.
    func table(of relationship: Relationship, on connection: Connection) throws -> Table? {
        guard let pairs = schema.joinTables[relationship.index],
            let statement = SchemaStatements.creation(ofJoinTable: relationship, schema)
        else { return nil }
        return try table(pairs.name, madeBy: statement, hasPlainNames: true, on: connection)
    }

    /// A table with a quoted name.
    ///
    /// - Parameters:
    ///   - statement: The statement that makes such a table in a new store. The table has its columns if the schema's
    ///     entry is lost.
    ///   - hasPlainNames: Whether the names of its columns show their properties.
    private func table(
        _ name: String,
        madeBy statement: String,
        hasPlainNames: Bool,
        on connection: Connection
    ) throws -> Table {
        let unquoted = SQL.unquoted(name)
        let object = table(named: unquoted)
        let found = object.flatMap { TableDefinition($0.statement) }
        let expected = TableDefinition(statement)
        let definition = found ?? expected
        let columns = Self.columns(of: definition)
        let isCertain =
            if found == nil {
                hasColumnsInOrder
            } else if hasKnownNames {
                true
            } else {
                hasPlainNames && tableNames.contain(unquoted) && Set(columns) == Set(Self.columns(of: expected))
            }
        var defaults: [String: Value] = [:]
        for column in columns {
            guard let literal = definition?.defaultLiteral(of: column) else { continue }
            defaults[column] = try connection.withUncachedStatement("SELECT \(literal)") { statement in
                try statement.step() ? statement.value(at: 0) : .null
            }
        }
        return Table(rootPage: object?.rootPage, columns: columns, defaults: defaults, isCertain: isCertain)
    }

    private static func columns(of definition: TableDefinition?) -> [String] {
        (definition?.columns ?? []).filter { $0.hasPrefix("\"") }
            .map { SQL.quoted(SQL.nameOfObject(madeBy: String($0))) }
    }

    /// The names of the store's tables.
    private var tableNames: PlainNames {
        let roots = schema.model.entities.filter(\.isRoot).map { SQL.legalName($0.name) }
        let pairs = schema.model.relationships.filter { $0.placement == .joinTable(isCanonical: true) }
            .map { SQL.withoutNulls("_\($0.source.name)_\($0.name)") }
        return PlainNames(roots + pairs + SchemaNames.reservedTables)
    }

    /// The schema's entry for a table.
    func table(named name: String) -> DamagedFile.SchemaObject? {
        let folded = SQL.foldedName(name)
        return objects.first { $0.type == "table" && SQL.foldedName($0.name) == folded }
    }

    /// The first pages of the indexes that have an entry for each row of a table.
    func indexes(ofTable name: String) -> [Int] {
        indexes(of: SQL.unquoted(name)).filter { !$0.statement.isEmpty && !$0.statement.contains(" WHERE ") }
            .map(\.rootPage)
    }

    /// The first pages of the indexes that SQLite has created for the constraints of a table.
    func automaticIndexes(ofTable name: String) -> [Int] {
        indexes(of: name).filter(\.statement.isEmpty).map(\.rootPage)
    }

    private func indexes(of table: String) -> [DamagedFile.SchemaObject] {
        let folded = SQL.foldedName(table)
        return objects.filter { $0.type == "index" && SQL.foldedName($0.table) == folded && $0.rootPage > 0 }
    }

    /// The first pages of all other tables with row IDs, whose pages do not belong to lost rows.
    func otherTables(than roots: Set<Int>) -> [Int] {
        objects.filter { $0.type == "table" && $0.rootPage > 1 && !roots.contains($0.rootPage) && $0.hasRowIDs }
            .map(\.rootPage)
    }
}

extension DamagedFile.SchemaObject {
    /// Whether a table has row IDs. A table without row IDs has the pages of an index.
    fileprivate var hasRowIDs: Bool {
        guard let end = statement.utf8.lastIndex(of: UInt8(ascii: ")")) else { return true }
        return !statement[end...].uppercased().contains("WITHOUT ROWID")
    }
}
