import EncryptedSQLite
import Foundation
import ObjectGraph

/// Reads the data for an exchange on one connection: rows, members and global identifiers.
struct ExchangeReading {
    let connection: Connection
    let store: OpenStore

    var model: ManagedObjectModel { store.model }

    /// The rows of objects, with all values.
    ///
    /// - Parameters:
    ///   - keys: The keys, in any order.
    ///   - properties: The properties to read; nil for all.
    func rows(_ keys: [Int64], of root: Entity, only properties: Set<Property>? = nil) throws -> RowBatch {
        let table = store.schema.table(of: root)
        let selection = store.historySelections.selection(of: root, table, only: properties)
        var rows = RowBatchBuilder()
        for group in KeyGroup.groups(of: keys.sorted(), .reading) {
            let condition = group.condition(#"t0."_id""#)
            let sql = "SELECT \(selection.columns) FROM \(table.name) AS t0 WHERE \(condition) ORDER BY t0.\"_id\""
            try connection.withStatement(sql) { query in
                try group.bind(to: query)
                try selection.readAll(query, into: &rows, order: group.order, store.largeValues(on: connection))
            }
        }
        return rows.finish()
    }

    /// The rows of objects by place.
    func rows(of places: some Sequence<ObjectPlace>, only properties: Set<Property>? = nil) throws -> [ObjectPlace: Row]
    {
        var found: [ObjectPlace: Row] = [:]
        for (rootIndex, places) in Dictionary(grouping: places, by: \.rootIndex) {
            for row in try rows(places.map(\.key), of: model.entities[rootIndex], only: properties) {
                found[ObjectPlace(rootIndex: rootIndex, key: row.key)] = row
            }
        }
        return found
    }

    /// The keys of the members of a to-many relationship, in its order or ascending.
    func members(of relationship: Relationship, _ owner: Int64) throws -> [Int64] {
        let (tables, ownerColumn, position) = try store.memberSource(of: relationship)
        let order = [position.map { "\($0) NULLS LAST" }, #"t0."_id""#].compactMap(\.self).joined(separator: ", ")
        let sql = #"SELECT t0."_id" FROM \#(tables) WHERE \#(ownerColumn) = ? ORDER BY \#(order)"#
        return try connection.withStatement(sql) { statement in
            try statement.bind(owner, at: 1)
            var keys: [Int64] = []
            var walk = KeyWalk(position == nil ? .ascending(after: 0) : .sorted)
            while try statement.step() {
                let key = statement.integer(at: 0)
                try walk.visit(key, of: statement)
                keys.append(key)
            }
            return keys
        }
    }

    // MARK: Global identifiers

    /// The place of the object with a global identifier, which may have been deleted; nil if the store has never had
    /// it.
    func place(of identifier: UUID) throws -> ObjectPlace? {
        let sql = #"SELECT "entity", "key" FROM "_identity" WHERE "uuid" = ?"#
        let found = try connection.withStatement(sql) { statement -> (code: Int64, key: Int64)? in
            try withUnsafeBytes(of: identifier.uuid) { try statement.bind(blob: $0, at: 1) }
            return try statement.step() ? (statement.integer(at: 0), statement.integer(at: 1)) : nil
        }
        guard let found,
            let root = model.entities.first(where: {
                $0.isRoot && store.schema.names.recordedCode(of: $0) == found.code
            })
        else { return nil }
        return ObjectPlace(rootIndex: root.index, key: found.key)
    }

    /// The global identifier of an object, which may have been deleted.
    ///
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` if it has none.
    func identifier(of place: ObjectPlace) throws -> UUID {
        let sql = #"SELECT "uuid" FROM "_identity" WHERE "entity" = ? AND "key" = ?"#
        return try connection.withStatement(sql) { statement in
            try statement.bind(code(of: place), at: 1)
            try statement.bind(place.key, at: 2)
            guard try statement.step(), statement.blob(at: 0).count == 16 else {
                throw SealedStoreError.damagedRow(entity: GlobalIdentifierTable.name, property: "uuid")
            }
            return UUID(uuid: statement.blob(at: 0).loadUnaligned(as: uuid_t.self))
        }
    }

    /// Gives a global identifier to the object at a place. Neither belongs to anything else afterwards.
    func setIdentifier(_ identifier: UUID, of place: ObjectPlace) throws {
        let sql = #"INSERT OR REPLACE INTO "_identity" ("uuid", "entity", "key") VALUES (?, ?, ?)"#
        try connection.withStatement(sql) { statement in
            try withUnsafeBytes(of: identifier.uuid) { try statement.bind(blob: $0, at: 1) }
            try statement.bind(code(of: place), at: 2)
            try statement.bind(place.key, at: 3)
            try statement.run()
        }
    }

    private func code(of place: ObjectPlace) -> Int64 { store.schema.names.code(of: model.entities[place.rootIndex]) }
}
