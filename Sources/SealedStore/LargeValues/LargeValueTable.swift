import EncryptedSQLite
import Foundation
import ObjectGraph

/// The table `_large`: the large values of attributes that allow external storage, in separate rows.
///
/// SQLite writes all pages of a row whenever one of its values changes. The row of an object holds a
/// ``LargeValueReference`` in the place of a large value, so that a change of another property writes none of the value's
/// pages. A row refers to its own values only, and a value is deleted together with its reference.
///
/// A file gets the table with its first large value, and the number of its format rises with it. Values that an earlier
/// version has stored in the rows stay there until the row is written again, or the store is compacted.
struct LargeValueTable {
    static let name = "_large"
    static let quotedName = SQL.quoted(name)
    /// The column of the values.
    static let valueColumn = "value"

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE "_large" ("_id" INTEGER PRIMARY KEY NOT NULL, "value" BLOB NOT NULL) STRICT
        """

    let connection: Connection

    // MARK: Values

    /// Calls `body` with a value; nil if there is none.
    func withValue<R>(at reference: LargeValueReference, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        try connection.withStatement(#"SELECT "value" FROM "_large" WHERE "_id" = ?"#) { statement in
            try statement.bind(reference.key, at: 1)
            guard try statement.step() else { return nil }
            return try body(statement.blob(at: 0))
        }
    }

    /// Adds a value.
    func insert(_ value: UnsafeRawBufferPointer) throws -> LargeValueReference {
        try connection.withStatement(#"INSERT INTO "_large" ("value") VALUES (?)"#) { statement in
            try statement.bind(staticBlob: value, at: 1)
            try statement.run()
        }
        return LargeValueReference(key: connection.lastInsertedKey)
    }

    /// Adds a value of zeroes, whose bytes are written later.
    func insert(zeroes count: Int) throws -> LargeValueReference {
        try connection.withStatement(#"INSERT INTO "_large" ("value") VALUES (zeroblob(?))"#) { statement in
            try statement.bind(Int64(count), at: 1)
            try statement.run()
        }
        return LargeValueReference(key: connection.lastInsertedKey)
    }

    /// The number of bytes of a value; nil if there is none.
    func count(of reference: LargeValueReference) throws -> Int? {
        try connection.withStatement(#"SELECT length("value") FROM "_large" WHERE "_id" = ?"#) { statement in
            try statement.bind(reference.key, at: 1)
            return try statement.step() ? Int(statement.integer(at: 0)) : nil
        }
    }

    /// Deletes the values to which the columns of some rows refer.
    ///
    /// - Parameters:
    ///   - rows: The rows, as a table with a condition.
    ///   - bind: Binds the parameters of the condition.
    func delete(
        referredToBy columns: [Column],
        of rows: String,
        _ bind: (borrowing Statement) throws -> Void = { _ in }
    ) throws {
        for column in columns {
            let condition = LargeValueReference.mayBe(column.name)
            let sql = """
                DELETE FROM "_large" WHERE "_id" IN (SELECT \(LargeValueReference.key(of: column.name)) FROM \(rows) \
                AND \(condition))
                """
            try connection.withStatement(sql) { statement in
                try bind(statement)
                try statement.run()
            }
        }
    }

    /// The references in the columns of some rows.
    ///
    /// - Parameter rows: The rows, as a table with a condition.
    func references(in columns: [Column], of rows: String) throws -> [LargeValueReference] {
        var references: [LargeValueReference] = []
        for column in columns {
            let condition = LargeValueReference.mayBe(column.name)
            let sql = "SELECT \(LargeValueReference.key(of: column.name)) FROM \(rows) AND \(condition)"
            try connection.withStatement(sql) { row in
                while try row.step() {
                    if !row.isNull(at: 0) { references.append(.init(key: row.integer(at: 0))) }
                }
            }
        }
        return references
    }

    /// Deletes values.
    func delete(_ references: [LargeValueReference]) throws {
        try connection.withStatement(#"DELETE FROM "_large" WHERE "_id" = ?"#) { statement in
            for reference in references {
                try statement.bind(reference.key, at: 1)
                try statement.run()
            }
        }
    }

    /// Deletes the values to which no row refers.
    ///
    /// - Parameter schema: The schema of all tables of the file.
    /// - Returns: The number of values.
    @discardableResult
    func deleteUnused(_ schema: StoreSchema) throws -> Int {
        let references = Self.references(in: schema)
        let condition = references.isEmpty ? "" : " WHERE \"_id\" NOT IN (\(references))"
        return try connection.withUncachedStatement("DELETE FROM \"_large\"\(condition)") { statement in
            try statement.run()
            return connection.changes
        }
    }

    /// The number of values to which no row refers, and the smallest key of such a value.
    func unused(_ schema: StoreSchema) throws -> (count: Int, first: Int64)? {
        let references = Self.references(in: schema)
        let condition = references.isEmpty ? "" : " WHERE \"_id\" NOT IN (\(references))"
        return try connection.withUncachedStatement(#"SELECT count(*), min("_id") FROM "_large"\#(condition)"#) { row in
            guard try row.step(), row.integer(at: 0) > 0 else { return nil }
            return (Int(row.integer(at: 0)), row.integer(at: 1))
        }
    }

    /// The statement that selects the keys of all values to which rows refer; empty if no column can refer to a value.
    private static func references(in schema: StoreSchema) -> String {
        schema.model.entities.filter(\.isRoot).flatMap { root in
            let table = schema.table(of: root)
            return table.columns.filter(\.mayRefer).map { column in
                "SELECT \(LargeValueReference.key(of: column.name)) FROM \(table.name) WHERE \(isReference(column))"
            }
        }.joined(separator: " UNION ALL ")
    }

    // MARK: Creation

    /// Whether the file of a connection has the table, also if its transaction has made it.
    static func exists(on connection: Connection) throws -> Bool {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_large'"
        return try connection.withStatement(sql) { try $0.step() }
    }

    /// Creates the table, and raises the number of the format. Values of the file that have the form of a reference are
    /// moved to it.
    ///
    /// - Parameter schema: The schema of all tables of the file.
    static func create(_ schema: StoreSchema, on connection: Connection) throws -> LargeValueTable {
        try connection.execute(creation)
        try StoreFormat.raise(to: StoreFormat.largeValues, on: connection)
        connection.removeAnnotation()
        let table = LargeValueTable(connection: connection)
        for root in schema.model.entities where root.isRoot {
            let entityTable = schema.table(of: root)
            for column in entityTable.columns where column.mayRefer {
                try table.move(column, of: entityTable, where: isReference(column))
            }
        }
        return table
    }

    /// Moves values from rows to the table.
    ///
    /// - Returns: The number of values.
    @discardableResult
    func move(_ column: Column, of table: EntityTable, where condition: String) throws -> Int {
        let keys = try connection.withUncachedStatement("SELECT \"_id\" FROM \(table.name) WHERE \(condition)") { row in
            var keys: [Int64] = []
            while try row.step() { keys.append(row.integer(at: 0)) }
            return keys
        }
        for key in keys {
            let selection =
                #"INSERT INTO "_large" ("value") SELECT \#(column.name) FROM \#(table.name) WHERE "_id" = ?"#
            try connection.withStatement(selection) { statement in
                try statement.bind(key, at: 1)
                try statement.run()
            }
            let reference = LargeValueReference(key: connection.lastInsertedKey)
            try connection.withStatement(#"UPDATE \#(table.name) SET \#(column.name) = ? WHERE "_id" = ?"#) {
                statement in
                try statement.bind(.blob(reference.data), at: 1)
                try statement.bind(key, at: 2)
                try statement.run()
            }
        }
        return keys.count
    }

    /// Moves values that a statement has written to columns of some rows, none of which is a reference, to the table:
    /// large values, and values that have the form of a reference.
    ///
    /// - Parameters:
    ///   - rows: The condition on the rows.
    ///   - large: The columns among these whose large values are stored in the table.
    static func moveWritten(
        _ columns: [Column],
        _ large: [Column],
        of table: EntityTable,
        where rows: String,
        _ store: OpenStore,
        on connection: Connection
    ) throws {
        var values = try store.largeValues(on: connection)
        if let values {
            for column in columns { try values.move(column, of: table, where: "\(rows) AND \(isReference(column))") }
        }
        for column in large {
            let condition = "\(rows) AND length(\(column.name)) > \(EntitySelection.deferralLimit)"
            let sql = "SELECT 1 FROM \(table.name) WHERE \(condition) LIMIT 1"
            guard try connection.withStatement(sql, { try $0.step() }) else { continue }
            let present = try values ?? create(StoreSchema(ofFileOf: connection), on: connection)
            values = present
            try present.move(column, of: table, where: condition)
        }
    }

    /// The condition that a column holds a reference.
    private static func isReference(_ column: Column) -> String {
        "\(LargeValueReference.mayBe(column.name)) AND \(LargeValueReference.key(of: column.name)) IS NOT NULL"
    }
}

extension LargeValueTable: StoreFeature {
    static let tables = [SystemTable(name: name, creation: creation)]

    /// Values to which no row refers.
    static func problems(_ schema: StoreSchema, on connection: Connection) throws -> [StoreProblem] {
        guard try exists(on: connection),
            let unused = try LargeValueTable(connection: connection).unused(StoreSchema(ofFileOf: connection))
        else { return [] }
        return [StoreProblem(.unusedLargeValues, count: unused.count, firstKey: unused.first)]
    }

    /// Deletes the values of removed rows, columns and tables.
    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws {
        guard plan.metadata.hasLargeValues else { return }
        let schema = StoreSchema(model: plan.metadata.fileModel, names: plan.metadata.names)
        try LargeValueTable(connection: connection).deleteUnused(schema)
    }
}

extension Column {
    /// Whether the column may hold references to large values.
    var mayRefer: Bool {
        if case .attribute(let attribute) = property { attribute.type == .data } else { false }
    }
}

extension StoreSchema {
    /// The schema of all tables of a connection's file, also of tables that are set aside.
    init(ofFileOf connection: Connection) throws {
        self = try StoreContent.read(on: connection).schema
    }
}

extension StoreSchema {
    /// The columns of an entity's table that may refer to large values, also columns that the model does not have.
    func referringColumns(of entity: Entity) -> [Column] {
        let table = table(of: entity)
        let whole = aside?.schema.tables.first { $0.recordedName == table.recordedName } ?? table
        return whole.columns.filter(\.mayRefer)
    }
}

extension OpenStore {
    /// The columns of an entity's table that may refer to large values, in the state of a connection's transaction.
    func referringColumns(of entity: Entity, on connection: Connection) throws -> [Column] {
        try states.state(on: connection).schema.referringColumns(of: entity)
    }

    /// The table of large values in the state of a connection's transaction; nil if the file has none.
    func largeValues(on connection: Connection) throws -> LargeValueTable? {
        try states.state(on: connection).schema.conditions.hasLargeValues
            ? LargeValueTable(connection: connection) : nil
    }

    /// Moves the large values that an earlier version has stored in the rows of objects to the table of large values,
    /// and deletes large values that belong to no object.
    func moveLargeValues() throws {
        try writeTransaction { connection in
            let schema = try StoreSchema(ofFileOf: connection)
            for root in schema.model.entities where root.isRoot {
                let table = schema.table(of: root)
                let unique = Set(
                    root.family.flatMap { entity in
                        entity.uniquenessConstraints.joined().map { entity.properties[$0] }
                    }
                )
                let large = table.columns.filter { $0.isDeferrable && !unique.contains($0.property) }
                try LargeValueTable.moveWritten([], large, of: table, where: "1", self, on: connection)
            }
            try largeValues(on: connection)?.deleteUnused(schema)
        }
    }
}
