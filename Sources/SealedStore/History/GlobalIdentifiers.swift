import EncryptedSQLite
public import Foundation
public import ObjectGraph

/// The table `_identity`: the global identifiers of objects, by the number of the root entity and the key.
///
/// It is a table beside the tables of the entities, not a column in them: the identifier of a deleted object stays
/// known, and stores without identifiers have neither another format nor another cost of saves.
enum GlobalIdentifierTable {
    /// The name of the table.
    static let name = "_identity"

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE "_identity" ("uuid" BLOB PRIMARY KEY NOT NULL, "entity" INTEGER NOT NULL, "key" INTEGER NOT NULL, \
        UNIQUE ("entity", "key")) STRICT, WITHOUT ROWID
        """

    static let table = SystemTable(name: name, creation: creation, ownsName: true)

    private static let insertion: SQLText =
        #"INSERT OR IGNORE INTO "_identity" ("uuid", "entity", "key") VALUES (?, ?, ?)"#

    /// Gives identifiers to objects that have none.
    static func insert(
        _ keys: some Sequence<Int64>,
        of root: Entity,
        _ names: SchemaNames,
        _ identifiers: inout GlobalIdentifierSequence,
        on connection: Connection
    ) throws {
        try connection.withStatement(insertion) { statement in
            try statement.bind(names.code(of: root), at: 2)
            for key in keys {
                try withUnsafeBytes(of: identifiers.next().uuid) { try statement.bind(blob: $0, at: 1) }
                try statement.bind(key, at: 3)
                try statement.run()
            }
        }
    }

    /// Gives identifiers to all objects of a store that have none.
    ///
    /// - Returns: The number of these objects.
    @discardableResult
    static func fill(_ schema: StoreSchema, _ entities: [Entity], on connection: Connection) throws -> Int {
        var identifiers = GlobalIdentifierSequence()
        var count = 0
        for root in entities where root.isRoot {
            let sql = """
                SELECT t."_id" FROM \(schema.table(of: root).name) AS t WHERE NOT EXISTS \
                (SELECT 1 FROM "_identity" WHERE "entity" = \(schema.names.code(of: root)) AND "key" = t."_id")
                """
            let keys = try connection.withUncachedStatement(sql) { try $0.primaryKeys(of: root, .any) }
            try insert(keys, of: root, schema.names, &identifiers, on: connection)
            count += keys.count
        }
        return count
    }
}

/// Identifiers of version 7 (RFC 9562): the time in milliseconds, then a random number, which rises by one with each
/// further identifier of the sequence. So they are in the order of their creation, and rows are appended to an index.
struct GlobalIdentifierSequence {
    private let high: UInt64
    private var low: UInt64

    init(time: Date = Date(), random: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(max(0, time.timeIntervalSince1970 * 1000))
        high = milliseconds << 16 | 0x7000 | random.next() & 0x0FFF
        // The two bits of the variant, and room for the further identifiers.
        low = 0x8000_0000_0000_0000 | random.next() >> 3
    }

    init() {
        var random = SystemRandomNumberGenerator()
        self.init(random: &random)
    }

    mutating func next() -> UUID {
        let (first, second) = (high.bigEndian, low.bigEndian)
        low += 1
        return withUnsafeBytes(of: (first, second)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension SealedStore {
    /// Returns the global identifier of an object, a UUID of version 7 that was made with its insertion and is unique
    /// across files. A deleted object keeps it until a migration.
    ///
    /// - Returns: Nil if the store has no such object, or gives no identifiers, see ``HistoryOptions/identifiesObjects``.
    /// - Throws: `DatabaseError`.
    public func globalIdentifier(of id: ManagedObjectID) throws -> UUID? {
        guard id.storeUUID == metadata.uuid else { return nil }
        return try opened.withIdentities { connection in
            let sql = #"SELECT "uuid" FROM "_identity" WHERE "entity" = ? AND "key" = ?"#
            return try connection.withStatement(sql) { statement in
                guard let code = try opened.identityCode(of: opened.model.root(of: id.entity)) else { return nil }
                try statement.bind(code, at: 1)
                try statement.bind(id.key, at: 2)
                guard try statement.step() else { return nil }
                let bytes = statement.blob(at: 0)
                guard bytes.count == 16 else {
                    throw SealedStoreError.damagedRow(entity: GlobalIdentifierTable.name, property: "uuid")
                }
                return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
            }
        }
    }

    /// Returns the object with a global identifier; nil if the store has no such object, or no longer has it.
    ///
    /// - Throws: `DatabaseError`.
    public func objectID(forGlobalIdentifier identifier: UUID) throws -> ManagedObjectID? {
        try opened.withIdentities { connection in
            let sql = #"SELECT "entity", "key" FROM "_identity" WHERE "uuid" = ?"#
            let place = try connection.withStatement(sql) { statement -> (code: Int64, key: Int64)? in
                try withUnsafeBytes(of: identifier.uuid) { try statement.bind(blob: $0, at: 1) }
                return try statement.step() ? (statement.integer(at: 0), statement.integer(at: 1)) : nil
            }
            guard let place else { return nil }
            // In a file that is read with another model, the objects of one root entity of the file can belong to
            // several root entities.
            for root in opened.model.entities where root.isRoot {
                guard try opened.identityCode(of: root) == place.code else { continue }
                let rows = try opened.rows(with: [place.key], of: root, in: nil, readFailures: nil)
                guard let row = rows.first(where: { _ in true }) else { continue }
                return ManagedObjectID(
                    entity: opened.model.entities[row.entityIndex],
                    storeUUID: opened.uuid,
                    key: row.key
                )
            }
            return nil
        }
    }
}

extension OpenStore {
    /// The number of a root entity in the table of identifiers; nil if the file has no objects of it.
    fileprivate func identityCode(of root: Entity) throws -> Int64? {
        guard let mapping = mappingFromFile() else { return schema.names.recordedCode(of: root) }
        // The mapping has the entities of the store's part of the model.
        return mapping.new.entitiesByName[root.name].flatMap(mapping.home).flatMap(fileSchema.names.recordedCode)
    }

    /// Calls `body` with a connection if the file has identifiers.
    fileprivate func withIdentities<R>(_ body: (Connection) throws -> R?) throws -> R? {
        try database.read { connection in
            guard try states.state(on: connection).schema.conditions.history?.identifiesObjects ?? false else {
                return nil
            }
            return try body(connection)
        }
    }
}
