import EncryptedSQLite
package import Foundation
package import ObjectGraph

extension SealedStore {
    /// The largest number of bytes of a value, as SQLite limits it.
    package static let largestValue = 1_000_000_000

    /// Reads the value of an attribute in parts.
    ///
    /// Each part is read in a separate transaction, so that other writers can save between the parts.
    ///
    /// - Parameters:
    ///   - partSize: The largest number of bytes of a part.
    ///   - body: Called with the parts, under no lock.
    /// - Returns: Whether there is a value.
    /// - Throws: `ObjectGraphError.conflicts` if the value is replaced while it is read; `DatabaseError`; errors of `body`.
    package func readValue(
        of id: ManagedObjectID,
        _ attribute: Attribute,
        partSize: Int,
        _ body: (Data) throws -> Void
    ) throws -> Bool {
        var first: ValuePlace?
        var offset = 0
        repeat {
            let part = try opened.database.read { connection -> Data? in
                guard let place = try opened.place(of: id, attribute, on: connection) else { return nil }
                if let first, first != place { throw ObjectGraphError.conflicts([MergeConflict(objectID: id)]) }
                first = place
                guard offset < place.count else { return nil }
                return try place.read(min(partSize, place.count - offset), at: offset, on: connection)
            }
            guard let part else {
                if let first, offset < first.count { throw ObjectGraphError.conflicts([MergeConflict(objectID: id)]) }
                break
            }
            offset += part.count
            try body(part)
        } while true
        return first != nil
    }

    /// Writes the value of an attribute from parts.
    ///
    /// The parts are written in separate transactions, so that other writers can save between the parts, and the object
    /// gets the value after the last part. If the process ends before, the object keeps its value; a compaction or
    /// repair removes the parts.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of the value.
    ///   - next: Returns the next part, of at least one byte; called under no lock.
    /// - Throws: `SealedStoreError.invalidLength` if the parts have another length; ``ObjectGraphError/conflicts(_:)`` if
    ///   the store does not have the object; `DatabaseError`; errors of `next`. The object keeps its value then.
    package func writeValue(
        of id: ManagedObjectID,
        _ attribute: Attribute,
        count: Int,
        author: String?,
        _ next: () throws -> Data
    ) throws {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        guard (0...Self.largestValue).contains(count) else {
            throw SealedStoreError.invalidLength(expected: Self.largestValue, found: count)
        }
        let reference = try opened.writeTransaction { connection in
            let table =
                try opened.largeValues(on: connection)
                ?? LargeValueTable.create(StoreSchema(ofFileOf: connection), on: connection)
            return try table.insert(zeroes: count)
        }
        do {
            var offset = 0
            while offset < count {
                let part = try next()
                guard !part.isEmpty, part.count <= count - offset else {
                    throw SealedStoreError.invalidLength(expected: count, found: offset + part.count)
                }
                try opened.writeTransaction { connection in
                    try connection.withBlob(
                        inTable: LargeValueTable.name,
                        column: LargeValueTable.valueColumn,
                        key: reference.key,
                        isWritable: true
                    ) { blob in
                        try part.withUnsafeBytes { try blob.write($0, at: offset) }
                    }
                }
                offset += part.count
            }
            try opened.assign(reference, to: id, attribute, author: author)
        } catch {
            try? opened.writeTransaction { connection in
                try LargeValueTable(connection: connection).delete([reference])
            }
            throw error
        }
    }
}

/// The row and column that hold the bytes of a value.
private struct ValuePlace: Equatable {
    let table: String
    let column: String
    let key: Int64
    let count: Int
    /// The version of the object's row.
    let version: Int64

    /// Reads a part of the value.
    func read(_ count: Int, at offset: Int, on connection: Connection) throws -> Data {
        try connection.withBlob(inTable: table, column: column, key: key) { try $0.read(count, at: offset) }
    }
}

extension OpenStore {
    /// The place of a value; nil if the store does not have the object, or it has no value.
    fileprivate func place(
        of id: ManagedObjectID,
        _ attribute: Attribute,
        on connection: Connection
    ) throws -> ValuePlace? {
        let table = schema.table(of: id.entity)
        guard let column = table.column(of: .attribute(attribute)) else { return nil }
        let largeValues = try largeValues(on: connection)
        let key = largeValues == nil ? "NULL" : LargeValueReference.key(of: column.name)
        let sql = """
            SELECT length(\(column.name)), "_version", CASE WHEN \(LargeValueReference.mayBe(column.name)) THEN \(key) END \
            FROM \(table.name) WHERE "_id" = ?
            """
        return try connection.withStatement(sql) { row in
            try row.bind(id.key, at: 1)
            guard try row.step(), !row.isNull(at: 0) else { return nil }
            let version = row.integer(at: 1) & VersionWord.versionMask
            guard let largeValues, !row.isNull(at: 2) else {
                return ValuePlace(
                    table: SQL.unquoted(table.name),
                    column: SQL.unquoted(column.name),
                    key: id.key,
                    count: Int(row.integer(at: 0)),
                    version: version
                )
            }
            let reference = LargeValueReference(key: row.integer(at: 2))
            guard let count = try largeValues.count(of: reference) else {
                throw SealedStoreError.damagedRow(entity: id.entity.name, property: attribute.name)
            }
            return ValuePlace(
                table: LargeValueTable.name,
                column: LargeValueTable.valueColumn,
                key: reference.key,
                count: count,
                version: version
            )
        }
    }

    /// Makes a value that is complete the value of an object.
    fileprivate func assign(
        _ reference: LargeValueReference,
        to id: ManagedObjectID,
        _ attribute: Attribute,
        author: String?
    ) throws {
        let property = Property.attribute(attribute)
        let table = schema.table(of: id.entity)
        guard let column = table.column(of: property) else {
            throw ObjectGraphError.conflicts([MergeConflict(objectID: id)])
        }
        try writeTransaction { connection in
            let history = try HistoryRecorder.begin(connection, self, author: author)
            let keys = try BatchKeys(connection)
            try keys.insert("SELECT \(model.root(of: id.entity).index), ?", [.integer(id.key)])
            try history?.willUpdate(keys, of: id.entity, [property])
            let largeValues = LargeValueTable(connection: connection)
            // A compaction may have removed the parts.
            guard try largeValues.count(of: reference) != nil else {
                throw ObjectGraphError.conflicts([MergeConflict(objectID: id)])
            }
            try largeValues.delete(referredToBy: [column], of: #"\#(table.name) WHERE "_id" = ?1"#) {
                try $0.bind(id.key, at: 1)
            }
            let version = VersionWord.increment(writing: [column])
            let sql = #"UPDATE \#(table.name) SET \#(column.name) = ?1, \#(version) WHERE "_id" = ?2"#
            try connection.withStatement(sql) { statement in
                try statement.bind(.blob(reference.data), at: 1)
                try statement.bind(id.key, at: 2)
                try statement.run()
            }
            guard connection.changes == 1 else { throw ObjectGraphError.conflicts([MergeConflict(objectID: id)]) }
            try history?.didUpdate([id.key], of: id.entity, [property])
            try keys.clear()
            _ = try history?.finish()
        }
    }
}
