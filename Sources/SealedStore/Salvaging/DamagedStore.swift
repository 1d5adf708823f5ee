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
    }

    let schema: StoreSchema
    let uuid: UUID
    let modelVersion: ModelVersion?
    /// The columns with texts that are not in normalization form C, as far as they can be read.
    let columnsOfMixedForms: Set<String>
    /// The first keys that each sequence has not reserved, by root entity, as far as they can be read.
    let nextKeys: [String: Int64]
    private let objects: [DamagedFile.SchemaObject]

    /// Reads the description.
    ///
    /// - Parameter model: The model, if the one in the file cannot be read.
    /// - Throws: ``SalvageError``.
    init(_ file: DamagedFile, model given: ManagedObjectModel?) throws {
        guard let found = try file.schema() else { throw SalvageError.firstPageDamaged }
        objects = found.objects
        let metadata = try Self.pairs(of: "_metadata", found.objects, file)
        guard metadata != nil || !found.isComplete else { throw SalvageError.notAStore }
        func text(_ key: String) -> String? { metadata?[key]?.string }
        let stored = text("model").flatMap { try? JSONDecoder().decode(ManagedObjectModel.self, from: Data($0.utf8)) }
        let names = text("names").flatMap { try? JSONDecoder().decode(SchemaNames.self, from: Data($0.utf8)) }
        guard let model = stored ?? given else { throw SalvageError.modelLost }
        let isValid = names.map { names in (try? names.validate(for: model)) != nil } ?? false
        schema = StoreSchema(model: model, names: isValid ? names : nil)
        uuid = text("uuid").flatMap(UUID.init(uuidString:)) ?? UUID()
        modelVersion = text("version").flatMap(ModelVersion.init)
        let prefix = StoreMetadataTable.mixedFormsPrefix
        columnsOfMixedForms = Set(
            (metadata ?? [:]).keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        )
        nextKeys = (try Self.pairs(of: "_sequence", found.objects, file) ?? [:]).compactMapValues { value in
            if case .integer(let next) = value { next } else { nil }
        }
    }

    /// The rows of a table of keys and values; nil if the schema has no entry for it.
    private static func pairs(
        of name: String,
        _ objects: [DamagedFile.SchemaObject],
        _ file: DamagedFile
    ) throws -> [String: StoredValue]? {
        guard let object = objects.first(where: { $0.type == "table" && $0.name == name }) else { return nil }
        var pairs: [String: StoredValue] = [:]
        _ = try file.readIndex(at: object.rootPage) { values in
            if values.count == 2, let key = values[0].string { pairs[key] = values[1] }
        }
        return pairs
    }

    /// A table with a quoted name.
    ///
    /// - Parameters:
    ///   - statement: The statement that makes such a table in a new store. Its columns are those of the table if the
    ///     schema's entry is lost.
    func table(_ name: String, madeBy statement: String, on connection: Connection) throws -> Table {
        let folded = SQL.foldedName(SQL.unquoted(name))
        let object = objects.first { $0.type == "table" && SQL.foldedName($0.name) == folded }
        let definition = object.flatMap { TableDefinition($0.statement) } ?? TableDefinition(statement)
        var columns: [String] = []
        var defaults: [String: Value] = [:]
        for column in definition?.columns ?? [] where column.hasPrefix("\"") {
            let name = SQL.quoted(SQL.nameOfObject(madeBy: String(column)))
            columns.append(name)
            if let literal = definition?.defaultLiteral(of: name) {
                defaults[name] = try connection.withUncachedStatement("SELECT \(literal)") { statement in
                    try statement.step() ? statement.value(at: 0) : .null
                }
            }
        }
        return Table(rootPage: object?.rootPage, columns: columns, defaults: defaults)
    }

    /// The first pages of the indexes that have an entry for each row of a table.
    func indexes(ofTable name: String) -> [Int] {
        let folded = SQL.foldedName(SQL.unquoted(name))
        return objects.filter { object in
            object.type == "index" && SQL.foldedName(object.table) == folded && object.rootPage > 0
                && !object.statement.isEmpty && !object.statement.contains(" WHERE ")
        }.map(\.rootPage)
    }

    /// The first pages of all other tables, whose pages are not those of lost rows.
    func otherTables(than roots: Set<Int>) -> [Int] {
        objects.filter { $0.type == "table" && $0.rootPage > 1 && !roots.contains($0.rootPage) }.map(\.rootPage)
    }
}
