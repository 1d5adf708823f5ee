import EncryptedSQLite
import Guarded
import ObjectGraph

/// The effect of a migration on the recorded history.
///
/// Transactions keep the names of their time; the migration records the new names. If it gives rows other keys, which
/// happens when entities of two tables get a common superentity, earlier transactions would name wrong objects, and are
/// deleted.
struct HistoryMigration: Sendable {
    /// The new names, without the number of a transaction.
    private let renaming: HistorySettings.Renaming
    private let changesKeys: Bool
    /// The tables whose rows move into other tables.
    private let moves: [Move]

    /// Rows that move from the table of an old root entity into the table of a new root entity.
    private struct Move {
        let oldCode: Int64
        let newCode: Int64
        let newTable: String
        let offset: Int64
    }

    init(_ context: MigrationContext) {
        renaming = HistorySettings.Renaming(context.mapping, through: 0)
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
    }

    /// Records the migration, in its transaction.
    func record(on connection: Connection) throws {
        guard var settings = try HistorySettings.read(on: connection) else { return }
        if settings.identifiesObjects { try moveIdentities(on: connection) }
        var last = try HistoryTable.lastKey(on: connection)
        let exchanges = try ExchangeRecord.read(on: connection) != nil
        if changesKeys {
            if exchanges, try ExchangeMarks.clear(on: connection) {
                // The exchange cannot continue, as after the deletion of transactions that were not exchanged.
                last = try HistoryTable.skipNumber(on: connection)
            }
            try HistoryTable.delete([1...max(1, last)], on: connection)
            settings.noteDeletion(through: last, timestamp: nil)
            settings.renamings = []
        } else {
            // Differences from the common order can be recorded under the number of a deleted transaction.
            if exchanges { last = max(last, settings.lastDeleted) }
            guard last > 0 || exchanges, !renaming.isEmpty else { return }
            var renaming = renaming
            renaming.through = last
            settings.renamings.append(renaming)
            if settings.identifiesObjects {
                // The exchange records differences under the number of the last transaction. From now on they have the
                // new names, which the renaming must not change.
                try HistoryTable.insertEmptyRow(max(last, settings.lastDeleted) + 1, on: connection)
            }
        }
        try settings.write(on: connection)
    }

    /// Keeps the global identifiers of the objects that the migration has kept.
    private func moveIdentities(on connection: Connection) throws {
        for move in moves {
            // A negative number, so that the row is not moved again.
            try update(
                """
                UPDATE "_identity" SET "entity" = -\(move.newCode), "key" = "key" + \(move.offset) \
                WHERE "entity" = \(move.oldCode) AND EXISTS \
                (SELECT 1 FROM \(move.newTable) AS t WHERE t."_id" = "_identity"."key" + \(move.offset))
                """,
                on: connection
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
        try update(#"UPDATE "_identity" SET "entity" = -"entity""#, on: connection)
    }

    /// Runs an update of the identifiers, which keeps them unique: a violation proves that the tree of the table is
    /// damaged.
    private func update(_ sql: String, on connection: Connection) throws {
        try connection.withStatement(sql) { statement in
            do {
                try statement.run()
            } catch DatabaseError.constraint {
                throw statement.damage()
            }
        }
    }
}

extension HistorySettings.Renaming {
    /// The names that a mapping gives to the entities and properties of the old model.
    ///
    /// - Parameter number: The number of the last transaction with the old names.
    init(_ mapping: ModelMapping, through number: Int64) {
        self.init(through: number, entities: [:], properties: [:])
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
    }

    /// Whether all entities and properties keep their names.
    fileprivate var isEmpty: Bool { entities.isEmpty && properties.isEmpty }
}

extension OpenStore {
    /// The mapping from the model of the file to the model of the program; nil if they are the same.
    ///
    /// The history and the identifiers of a file that is read with another model are in the state before the migration,
    /// which is not carried out. The rows of each table come from one table of the file, and keep their keys: see
    /// ``TableSources``.
    func mappingFromFile() -> ModelMapping? {
        guard readsOtherModel else { return nil }
        return knownMapping.withLock { known in
            if let known { return known }
            let mapping = ModelMapping(from: fileSchema.model, to: own)
            known = mapping
            return mapping
        }
    }
}
