import EncryptedSQLite
public import Foundation
import ObjectGraph
import SealedStore

extension StoreExport {
    /// Exports objects to a new SQLite database **without encryption**, which any tool opens.
    ///
    /// Anyone who can read the file can read everything in it. Only its owner can read it at first.
    ///
    /// Root entities become tables with their names, attributes and to-one relationships columns, and many-to-many
    /// relationships tables of pairs; the article <doc:ImportingDatabases> has the layout. Dates are texts in ISO 8601,
    /// UUIDs and decimal numbers texts.
    ///
    /// The database is written twice, so that room for two of them is needed for a time.
    ///
    /// - Parameters:
    ///   - file: The new file.
    ///   - progress: Reports the objects that were written, and cancels.
    /// - Throws: `DatabaseError` if the store cannot be read, if there is a file of this name, or the disk is full;
    ///   `CancellationError`.
    public func exportPlaintext(to file: URL, progress: Progress? = nil) throws {
        let new = try PlaintextFile(at: file)
        try reading(progress) { reader in
            let schema = PlaintextSchema(reader.model, reader.entities)
            try PlaintextDatabase.write(to: new) { connection in
                // The indexes before the rows: otherwise SQLite sorts all values of an index in memory.
                for statement in schema.tableStatements + schema.indexStatements { try connection.execute(statement) }
                for entity in reader.entities {
                    guard let table = schema.table(of: entity) else { continue }
                    try PlaintextWriter(connection, schema, table).write(entity, from: reader)
                }
                try PlaintextWriter.writeMembers(of: schema, connection, from: reader)
            }
            reader.finish()
        }
        try new.complete()
    }
}

/// Writes the rows of a plaintext export.
private struct PlaintextWriter {
    private let connection: Connection
    private let table: PlaintextSchema.EntityTable
    private let sql: String

    init(_ connection: Connection, _ schema: PlaintextSchema, _ table: PlaintextSchema.EntityTable) {
        self.connection = connection
        self.table = table
        let count = 1 + (table.hasEntityColumn ? 1 : 0) + table.columns.count
        let names =
            [quoted("_id")] + (table.hasEntityColumn ? [quoted("_entity")] : []) + table.columns.map { quoted($0.name) }
        let parameters = Array(repeating: "?", count: count).joined(separator: ", ")
        sql = "INSERT INTO \(quoted(table.name)) (\(names.joined(separator: ", "))) VALUES (\(parameters))"
    }

    func write(_ entity: Entity, from reader: ExportReader) throws {
        try reader.forEachObject(of: entity) { object in
            try connection.withStatement(sql) { statement in
                try statement.bind(object.key, at: 1)
                var index: Int32 = 2
                if table.hasEntityColumn {
                    try statement.bind(text: entity.name, at: index)
                    index += 1
                }
                for (property, _) in table.columns {
                    if entity.propertiesByName[property.name] == property {
                        try statement.bind(value(property, of: object), at: index)
                    } else {
                        try statement.bindNull(at: index)
                    }
                    index += 1
                }
                try statement.run()
            }
        }
    }

    private func value(_ property: Property, of object: ExportedObject) throws -> Value {
        switch property {
        case .attribute(let attribute):
            PlaintextSchema.value(try object.value(of: attribute), as: attribute.type)
        case .relationship(let relationship):
            object.destination(of: relationship).map(Value.integer) ?? .null
        }
    }

    // MARK: To-many relationships

    static func writeMembers(of schema: PlaintextSchema, _ connection: Connection, from reader: ExportReader) throws {
        for pair in schema.pairs {
            let position = pair.relationship.isOrdered ? ", target_position" : ""
            let sql =
                "INSERT INTO \(quoted(pair.name)) (source, target\(position)) VALUES (?, ?\(position.isEmpty ? "" : ", ?"))"
            try forEachMember(of: pair.relationship, reader) { owner, member, number in
                try run(sql, connection, [owner, member] + (position.isEmpty ? [] : [number]))
            }
            guard pair.isInverseOrdered, let inverse = pair.relationship.inverse else { continue }
            let update = "UPDATE \(quoted(pair.name)) SET source_position = ?3 WHERE target = ?1 AND source = ?2"
            try forEachMember(of: inverse, reader) { try run(update, connection, [$0, $1, $2]) }
        }
        for table in schema.tables {
            for (relationship, name) in table.positions {
                let update = "UPDATE \(quoted(table.name)) SET \(quoted(name)) = ?2 WHERE _id = ?1"
                try forEachMember(of: relationship, reader) { try run(update, connection, [$1, $2]) }
            }
        }
    }

    /// Calls `body` with owner, member and the member's position.
    private static func forEachMember(
        of relationship: Relationship,
        _ reader: ExportReader,
        _ body: (Int64, Int64, Int64) throws -> Void
    ) throws {
        var last: (owner: Int64, position: Int64)?
        try reader.forEachMember(of: relationship) { owner, member in
            let position = last.map { $0.owner == owner ? $0.position + 1 : 0 } ?? 0
            last = (owner, position)
            try body(owner, member, position)
        }
    }

    private static func run(_ sql: String, _ connection: Connection, _ parameters: [Int64]) throws {
        try connection.withStatement(sql) { statement in
            for (index, parameter) in parameters.enumerated() { try statement.bind(parameter, at: Int32(index + 1)) }
            try statement.run()
        }
    }
}
