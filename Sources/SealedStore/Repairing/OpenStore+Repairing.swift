import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    /// Repairs the store; see ``SealedStore/repair(_:progress:)``.
    func repair(_ options: StoreRepairOptions, _ progress: WorkProgress) throws -> StoreRepairReport {
        var repaired: [StoreProblem] = []
        let check = try repair(options, progress, repaired: &repaired)
        return StoreRepairReport(repaired: repaired, check: check)
    }

    /// - Parameter all: Receives the repaired problems when they are committed.
    /// - Returns: The check after the repair.
    func repair(
        _ options: StoreRepairOptions,
        _ progress: WorkProgress,
        repaired all: inout [StoreProblem]
    ) throws -> StoreReport {
        let found = try check(progress.part(0..<300))
        guard !found.isSound, !found.problems.contains(where: \.preventsRepair) else {
            try? progress.show(1000)
            return found
        }
        var repaired: [StoreProblem] = []
        do {
            try writeTransaction(isBulk: true) { connection in
                repaired = try progress.interrupting(connection) {
                    try repair(options, found.problems, on: connection)
                }
                try progress.show(700)
            }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
        all += repaired
        let check = try check(WorkProgress(nil))
        try? progress.show(1000)
        return check
    }

    private func repair(
        _ options: StoreRepairOptions,
        _ found: [StoreProblem],
        on connection: Connection
    ) throws -> [StoreProblem] {
        var repaired: [StoreProblem] = []
        if options.contains(.derivedData) {
            // Indexes come first: the statements that look for other problems, or change rows, use them.
            repaired += try rebuildIndexes(found, on: connection)
            let messages = found.filter { if case .damage = $0.kind { true } else { false } }
            if !messages.isEmpty {
                try connection.execute("REINDEX")
                repaired += messages
            }
            let repair = try contentRepair(on: connection)
            repaired += try repair.repairVersions()
            repaired += try repair.repairSequences()
            try sequences.reserveAgain(for: model, on: connection)
        }
        if options.contains(.references) {
            let repair = try contentRepair(on: connection)
            let references = try repair.repairReferences()
            if !references.isEmpty, var settings = try HistorySettings.read(on: connection) {
                try settings.noteUnrecordedChanges(on: connection)
            }
            repaired += references
        }
        if options.contains(.derivedData), try LargeValueTable.exists(on: connection) {
            let count = try LargeValueTable(connection: connection).deleteUnused(schemaOfFile(on: connection))
            if count > 0 { repaired.append(StoreProblem(.unusedLargeValues, count: count)) }
        }
        if options.contains(.derivedData) {
            let schema = try schemaOfFile(on: connection)
            let names = checkedEntityNames(schema)
            let differing = try IndexCheck(connection, schema, entityNames: names).problems()
            repaired += try rebuildIndexes(differing, on: connection)
        }
        return repaired
    }

    private func contentRepair(on connection: Connection) throws -> ContentRepair {
        let schema = try schemaOfFile(on: connection)
        return ContentRepair(connection, schema, entityNames: checkedEntityNames(schema))
    }

    /// Makes R-trees and full-text indexes anew that differ from their tables, or whose own tables are damaged.
    private func rebuildIndexes(_ problems: [StoreProblem], on connection: Connection) throws -> [StoreProblem] {
        let state = try schemaOfFile(on: connection)
        let shadowTables = Dictionary(
            state.names.indexes.map { ($0.name, $0.shadowTables) },
            uniquingKeysWith: { first, _ in first }
        )
        var repaired: [StoreProblem] = []
        for index in state.indexes {
            guard let table = index.virtualTable.map(SQL.unquoted),
                let problem = problems.first(where: { $0.kind == .indexMismatch && $0.indexPlace == index.place })
            else { continue }
            try connection.removeVirtualTable(table, shadowTables: shadowTables[table] ?? [])
            for sql in index.removal + index.creation + index.population { try connection.execute(sql) }
            repaired.append(problem)
        }
        return repaired
    }
}

extension StoreProblem {
    fileprivate var indexPlace: PropertyPlace? { entity.map { PropertyPlace(entity: $0, property: property) } }

    /// Whether the content of the file is uncertain, so that statements over it prove nothing.
    fileprivate var preventsRepair: Bool {
        switch kind {
        case .damagedPages, .damagedMetadata, .foreignSchema: true
        case .damage(let words): !Self.isIndexMessage(words)
        default: false
        }
    }
}
