import EncryptedSQLite
import ObjectGraph

/// The table `_applied`: the transactions that have applied change sets, and the changes that are left of them.
///
/// The changes of such a transaction are in the common order. The differences that a conflict has left are recorded
/// with it: for each concerned object the whole difference from the common order, in the form of the history's changes.
/// An update without properties is no difference.
enum ExchangeMarks {
    /// The name of the table.
    static let name = "_applied"

    /// The statement that creates the table. `number` is the number of a transaction. `applied` says whether that
    /// transaction has applied the change set; if not, the change set changed no object, and the transaction only
    /// preceded it.
    static let creation = """
        CREATE TABLE "_applied" ("_id" INTEGER PRIMARY KEY NOT NULL, "number" INTEGER NOT NULL, \
        "applied" INTEGER NOT NULL, "changes" BLOB) STRICT
        """

    static let table = SystemTable(name: name, creation: creation)

    /// The condition that a row of the history belongs to a transaction that has not applied a change set.
    static let isNotApplied = #""_id" NOT IN (SELECT "number" FROM "_applied" WHERE "applied" <> 0)"#

    /// Records a change set that was applied.
    ///
    /// - Parameters:
    ///   - number: The number of its transaction; if it has none, the number of the transaction before it.
    ///   - changes: The remaining differences.
    static func insert(_ number: Int64, isTransaction: Bool, _ changes: [[UInt8]], on connection: Connection) throws {
        for bytes in changes {
            let sql = #"INSERT INTO "_applied" ("number", "applied", "changes") VALUES (?, ?, ?)"#
            try connection.withStatement(sql) { statement in
                try statement.bind(number, at: 1)
                try statement.bind(Int64(isTransaction ? 1 : 0), at: 2)
                try bytes.withUnsafeBytes { bytes in
                    try statement.bind(blob: bytes, at: 3)
                    try statement.run()
                }
            }
        }
    }

    /// Records all objects of a store as insertions.
    static func insertAllObjects(of store: OpenStore, _ number: Int64, on connection: Connection) throws {
        var encoder = HistoryEncoder()
        for root in store.exchangedEntities where root.isRoot {
            let table = store.schema.table(of: root)
            let entityColumn = table.hasEntityColumn ? #", "_entity""# : ""
            let sql = #"SELECT "_id"\#(entityColumn) FROM \#(table.name) ORDER BY "_id""#
            try connection.withUncachedStatement(sql) { statement in
                var walk = KeyWalk(.ascending(after: 0))
                while try statement.step() {
                    let id = try table.id(of: statement, entityColumn: 1, storeUUID: store.uuid)
                    try walk.visit(id.key, of: statement)
                    encoder.add(.insert, id.entity, keys: id.key...id.key)
                }
            }
        }
        if !encoder.isEmpty { try insert(number, isTransaction: false, encoder.finish(), on: connection) }
    }

    /// A change set that was applied.
    struct Mark {
        let number: Int64
        let groups: [PersistentHistoryTransaction.Group]
    }

    /// Reads the marks from the mark of a transaction on, in their order.
    static func read(
        from number: Int64,
        _ model: ManagedObjectModel,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws -> [Mark] {
        let sql = #"SELECT "number", "changes" FROM "_applied" WHERE "number" >= ? ORDER BY "number", "_id""#
        return try connection.withStatement(sql) { statement in
            try statement.bind(number, at: 1)
            var marks: [Mark] = []
            while try statement.step() {
                let number = statement.integer(at: 0)
                var decoder = HistoryDecoder(
                    statement.blob(at: 1),
                    row: number,
                    model: model,
                    renamings: settings.renamings
                )
                marks.append(Mark(number: number, groups: try decoder.groups()))
            }
            return marks
        }
    }

    /// Deletes all marks, and returns whether there were any. The table must exist.
    static func clear(on connection: Connection) throws -> Bool {
        let hasMarks = try connection.withStatement(#"SELECT 1 FROM "_applied" LIMIT 1"#) { try $0.step() }
        try delete(through: .max, on: connection)
        return hasMarks
    }

    /// Deletes the marks of transactions up to a number.
    static func delete(through number: Int64, on connection: Connection) throws {
        try connection.withStatement(#"DELETE FROM "_applied" WHERE "number" <= ?"#) { statement in
            try statement.bind(number, at: 1)
            try statement.run()
        }
    }
}
