import EncryptedSQLite
import ObjectGraph

/// The effect of a migration on the recorded history.
///
/// Transactions keep the names of their time; the migration records the new ones. If it gives rows other keys, which
/// happens when entities of two tables get a common superentity, earlier transactions would name wrong objects, and are
/// deleted.
struct HistoryMigration: Sendable {
    private let entities: [String: String]
    private let properties: [String: [String: String]]
    private let changesKeys: Bool
    /// The tables whose rows get into others.
    private let moves: [Move]

    /// Rows that get from the table of an old root entity into that of a new one.
    private struct Move {
        let oldCode: Int64
        let newCode: Int64
        let newTable: String
        let offset: Int64
    }

    init(_ context: MigrationContext) {
        let mapping = context.mapping
        changesKeys = context.sources.contains { $0.contains { $0.keyOffset != 0 } }
        moves = zip(context.roots, context.sources).flatMap { root, sources in
            sources.map { source in
                Move(
                    oldCode: context.old.names.code(of: source.oldRoot),
                    newCode: context.newSchema.names.code(of: root),
                    newTable: context.newSchema.table(of: root).name,
                    offset: source.keyOffset
                )
            }
        }
        var entities: [String: String] = [:]
        var properties: [String: [String: String]] = [:]
        for old in mapping.old.entities {
            guard let new = mapping.newEntities[old] else {
                entities[old.name] = ""
                continue
            }
            if new.name != old.name { entities[old.name] = new.name }
            var names = Dictionary(uniqueKeysWithValues: old.properties.map { ($0.name, "") })
            for property in new.properties {
                if let before = mapping.old(of: property, in: new) { names[before.name] = property.name }
            }
            let renamed = names.filter { $0.key != $0.value }
            if !renamed.isEmpty { properties[old.name] = renamed }
        }
        self.entities = entities
        self.properties = properties
    }

    /// Records the migration, in its transaction.
    func record(on connection: Connection) throws {
        guard var settings = try HistorySettings.read(on: connection) else { return }
        if settings.identifiesObjects { try moveIdentities(on: connection) }
        var last = try HistoryTable.lastKey(on: connection)
        let exchanges = try ExchangeRecord.read(on: connection) != nil
        if changesKeys {
            if exchanges, try ExchangeMarks.clear(on: connection) {
                // The exchange cannot continue, as if transactions were deleted that were not exchanged.
                last = try HistoryTable.skipNumber(on: connection)
            }
            try HistoryTable.delete([1...max(1, last)], on: connection)
            settings.lastDeleted = max(settings.lastDeleted, last)
            settings.renamings = []
        } else {
            // Differences from the common order can be recorded under the number of a deleted transaction.
            if exchanges { last = max(last, settings.lastDeleted) }
            guard last > 0 || exchanges, !(entities.isEmpty && properties.isEmpty) else { return }
            settings.renamings.append(.init(through: last, entities: entities, properties: properties))
        }
        try settings.write(on: connection)
    }
    /// Keeps the global identifiers of the objects that the migration has kept.
    private func moveIdentities(on connection: Connection) throws {
        for move in moves {
            // A negative number, so that the row is not moved again.
            try connection.execute(
                """
                UPDATE "_identity" SET "entity" = -\(move.newCode), "key" = "key" + \(move.offset) \
                WHERE "entity" = \(move.oldCode) AND EXISTS \
                (SELECT 1 FROM \(move.newTable) AS t WHERE t."_id" = "_identity"."key" + \(move.offset))
                """
            )
        }
        if try ExchangeRecord.read(on: connection) != nil {
            // The deletions that were not exchanged need the identifiers of deleted objects.
            for move in moves {
                try connection.execute(
                    """
                    UPDATE OR IGNORE "_identity" SET "entity" = -\(move.newCode), "key" = "key" + \(move.offset) \
                    WHERE "entity" = \(move.oldCode)
                    """
                )
            }
        }
        try connection.execute(#"DELETE FROM "_identity" WHERE "entity" > 0"#)
        try connection.execute(#"UPDATE "_identity" SET "entity" = -"entity""#)
    }
}
