import EncryptedSQLite
import Foundation
import ObjectGraph

/// Writes the readable content of a damaged store into a new store, in the transaction that creates the file.
///
/// 1. The tables of root entities are read along their trees, and their rows written.
/// 2. The leaves that no tree leads to any more go to the table whose lost ranges of keys and whose columns they fit,
///    if there is only one.
/// 3. The tables of pairs are read.
/// 4. References to lost objects are cut, and objects without a required one are removed.
/// 5. The sequences are moved behind the keys. The history continues behind its numbers.
/// 6. The declared indexes are filled.
struct StoreSalvage {
    private let file: DamagedFile
    private let source: DamagedStore
    private let connection: Connection
    private let progress: Progress?
    private var schema: StoreSchema { source.schema }
    private var report: SalvageReport

    /// The table of a root entity while its rows are read.
    private struct RootTable {
        let root: Entity
        let source: DamagedStore.Table
        var rows: SalvagedRows
        var losses = DamagedFile.Losses()
    }

    init(_ file: DamagedFile, _ source: DamagedStore, to connection: Connection, progress: Progress?) {
        self.file = file
        self.source = source
        self.connection = connection
        self.progress = progress
        report = SalvageReport(entities: source.schema.model.entities.map { SalvageReport.EntityReport($0.name) })
    }

    mutating func run() throws -> SalvageReport {
        progress?.totalUnitCount = Int64(file.pageCount)
        let declared = schema.indexes.flatMap(\.creation)
        for statement in SchemaStatements(schema).all where !declared.contains(statement) {
            try connection.execute(statement)
        }
        let history = try SalvagedHistory(source, file, showProgress)
        var tables = try schema.model.entities.filter(\.isRoot).map(readTable)
        let largeValues = try readLargeValues()
        try readOrphanedLeaves(into: &tables, history)
        try readPairs()
        try writeMetadata(tables, largeValues)
        if let largeValues { try cutLargeValues(&tables, largeValues) }
        try repair(tables)
        let lostIdentifiers = try history.write(schema, on: connection)
        try connection.usingTemporaryFiles {
            for index in schema.indexes { for sql in index.creation + index.population { try connection.execute(sql) } }
        }
        try count(tables)
        report.lostIdentifierCount = lostIdentifiers ?? report.entities.reduce(0) { $0 + $1.recoveredCount }
        try file.verifyUnreadPages(showProgress)
        report.pageCount = file.pageCount + file.missingPageCount
        report.damagedPageCount = file.damagedPages.count + file.missingPageCount
        report.lostTransactionCount = file.lostCommitCount
        report.ignoresLog = file.ignoresLog
        report.outdatedPageCount = file.outdatedPageCount
        progress?.completedUnitCount = Int64(file.pageCount)
        return report
    }

    private func showProgress() throws {
        guard let progress else { return }
        if progress.isCancelled { throw CancellationError() }
        progress.completedUnitCount = Int64(min(file.readPageCount, file.pageCount))
    }

    // MARK: Rows

    private func readTable(of root: Entity) throws -> RootTable {
        let table = schema.table(of: root)
        let found = try source.table(of: root, on: connection)
        let known = try source.hasKnownNames ? nil : entitiesByNumber(in: table, found)
        let rows = SalvagedRows(table, from: found, schema, entitiesByNumber: known)
        var result = RootTable(root: root, source: found, rows: rows)
        guard let page = found.rootPage else {
            result.losses.ranges = [.all]
            return result
        }
        var count = 0
        result.losses = try file.readTable(at: page) { key, values in
            try result.rows.write(key, values, on: connection)
            count += 1
            if count % 256 == 0 { try showProgress() }
        }
        return result
    }

    /// The entities of the numbers in a table, as far as its rows show them.
    private func entitiesByNumber(in table: EntityTable, _ found: DamagedStore.Table) throws -> [Int64: Entity] {
        guard table.hasEntityColumn, found.isCertain, let page = found.rootPage else { return [:] }
        var numbers = EntityNumbers(table, from: found)
        try file.readingAhead {
            _ = try file.readTable(at: page) { _, values in
                if progress?.isCancelled ?? false { throw CancellationError() }
                numbers.add(values)
            }
        }
        return numbers.entities()
    }

    /// Gives the leaves below damaged pages to their tables.
    private func readOrphanedLeaves(into tables: inout [RootTable], _ history: SalvagedHistory) throws {
        guard tables.contains(where: { !$0.losses.ranges.isEmpty }) else { return }
        // Whether all leaves of all other tables, such as the tables of an R-tree, are known.
        var areOthersIntact = source.isSchemaComplete && history.areLeavesKnown
        let largeValues = source.table(named: LargeValueTable.name)?.rootPage
        let known = tables.compactMap(\.source.rootPage) + [history.rootPage, largeValues].compactMap(\.self)
        for root in source.otherTables(than: Set(known)) {
            // Reading the tree marks the pages of the table: the pages that are left have no parent.
            if try !file.readTable(at: root, { _, _ in }).ranges.isEmpty { areOthersIntact = false }
        }
        try file.readOrphanedLeaves { rows in
            try showProgress()
            guard let first = rows.first, let last = rows.last else { return }
            let fitting = tables.indices.filter { index in
                tables[index].losses.ranges.contains { $0.after < first.key && last.key <= $0.through }
                    && rows.allSatisfy { tables[index].rows.mayHold($0.values) }
                    && (areOthersIntact || rows.allSatisfy { tables[index].rows.isDistinctive($0.values) })
            }
            guard fitting.count == 1 else { return }
            // The damaged root led to the leaves.
            if tables[fitting[0]].losses.readLeafCount == 0 { tables[fitting[0]].losses.leafCount = 0 }
            for row in rows { try tables[fitting[0]].rows.write(row.key, row.values, on: connection) }
            tables[fitting[0]].losses.readLeafCount += 1
            tables[fitting[0]].losses.readRowCount += rows.count
        }
    }

    // MARK: Large values

    /// Reads the table of large values.
    ///
    /// - Returns: Nil if the store has none.
    private func readLargeValues() throws -> LargeValueTable? {
        guard let page = source.table(named: LargeValueTable.name)?.rootPage else { return nil }
        try connection.execute(LargeValueTable.creation)
        let sql = #"INSERT OR IGNORE INTO "_large" ("_id", "value") VALUES (?, ?)"#
        _ = try file.readTable(at: page) { key, values in
            guard key.isPrimaryKey, values.count == 2, case .blob(let value) = values[1] else { return }
            try connection.withStatement(sql) { statement in
                try statement.bind(key, at: 1)
                try value.withUnsafeBytes { try statement.bind(staticBlob: $0, at: 2) }
                try statement.run()
            }
            try showProgress()
        }
        return LargeValueTable(connection: connection)
    }

    /// Removes references to lost values, and rows whose required value is lost.
    private mutating func cutLargeValues(_ tables: inout [RootTable], _ largeValues: LargeValueTable) throws {
        for index in tables.indices {
            let table = schema.table(of: tables[index].root)
            for entity in tables[index].root.family where !entity.isAbstract {
                let isOfEntity = table.hasEntityColumn ? #" AND "_entity" = \#(table.codes[entity] ?? 0)"# : ""
                for attribute in entity.attributes {
                    guard let column = table.column(of: .attribute(attribute)), column.mayRefer else { continue }
                    let condition = LargeValueReference.isLost(column.name) + isOfEntity
                    let sql =
                        attribute.isOptional
                        ? "UPDATE \(table.name) SET \(column.name) = NULL WHERE \(condition)"
                        : "DELETE FROM \(table.name) WHERE \(condition)"
                    try connection.withUncachedStatement(sql) { try $0.run() }
                    tables[index].rows.noteLoss(of: connection.changes, attribute, in: entity)
                }
            }
        }
        try largeValues.deleteUnused(schema)
    }

    // MARK: Pairs

    private mutating func readPairs() throws {
        for relationship in schema.model.relationships {
            guard let pairs = schema.joinTables[relationship.index],
                let table = try source.table(of: relationship, on: connection)
            else { continue }
            guard table.isCertain, let page = table.rootPage else {
                lose(relationship, 1)
                continue
            }
            let names = table.columns.joined(separator: ", ")
            let sql = "INSERT OR IGNORE INTO \(pairs.name) (\(names)) VALUES (\(SQL.parameters(table.columns.count)))"
            let losses = try file.readIndex(at: page) { values in
                try connection.withStatement(sql) { statement in
                    try statement.bind(
                        table.columns.indices.map { index -> Value in
                            guard index < values.count, case .integer(let integer) = values[index] else { return .null }
                            return .integer(integer)
                        }
                    )
                    try statement.run()
                }
            }
            try showProgress()
            let mean = losses.readLeafCount > 0 ? losses.readRowCount / losses.readLeafCount : 1
            lose(relationship, losses.unreadableRowCount + losses.pageCount * max(1, mean))
        }
    }

    /// Counts lost references. A reference of a symmetric or inverse relationship counts once.
    private mutating func lose(_ relationship: Relationship, _ count: Int) {
        guard count > 0 else { return }
        report.entities[relationship.source.index].cutReferences[relationship.name, default: 0] += count
    }

    // MARK: The rest of the store

    private func writeMetadata(_ tables: [RootTable], _ largeValues: LargeValueTable?) throws {
        try StoreMetadataTable(
            uuid: source.uuid,
            hasLargeValues: largeValues != nil,
            model: source.model,
            union: source.model === schema.model ? nil : schema.model,
            names: schema.names,
            columnsOfMixedForms: tables.reduce(into: source.columnsOfMixedForms) {
                $0.formUnion($1.rows.mixedTexts.columns)
            },
            modelVersion: source.modelVersion,
            migrationCount: source.migrationCount
        ).writeAll(on: connection)
        // The columns have the order of the model, but they and the entities keep their names and numbers.
        if !schema.names.differsInIndexesOnly(from: SchemaNames(model: schema.model)) {
            try StoreMetadataTable.noteOtherOrder(on: connection)
        }
        for table in tables {
            let next = max(source.nextKeys[table.root.name] ?? Self.firstKeyOfLostSequence(table.rows.largestKey), 1)
            try PrimaryKeySequences.insert(next, ofRoot: table.root.name, on: connection)
        }
    }

    /// The next key if the sequence is lost: objects that were deleted, or are lost, may have had larger keys than the
    /// recovered objects, and keys are never given again.
    private static func firstKeyOfLostSequence(_ largestKey: Int64) -> Int64 {
        let distance: Int64 = 1 << 32
        let multiple = largestKey / distance + 1
        return multiple < Int64.max / distance ? multiple * distance : largestKey
    }

    private mutating func repair(_ tables: [RootTable]) throws {
        let repair = ContentRepair(connection, schema, entityNames: nil)
        _ = try repair.repairVersions()
        _ = try repair.repairSequences()
        _ = try repair.completeOneToOnes()
        for problem in try repair.deleteIncompleteRows() {
            guard let root = schema.model.entitiesByName[problem.entity ?? ""]?.rootIndex else { continue }
            report.entities[root].lostCount += problem.count
        }
        for problem in try repair.repairReferences() {
            guard let entity = schema.model.entitiesByName[problem.entity ?? ""], let property = problem.property,
                problem.kind != .strayValue, problem.kind != .invalidOrder
            else { continue }
            report.entities[entity.index].cutReferences[property, default: 0] += problem.count
        }
    }

    /// Counts the objects in the new store and the lost objects.
    private mutating func count(_ tables: [RootTable]) throws {
        for table in tables {
            let entityTable = schema.table(of: table.root)
            for entity in table.root.family where !entity.isAbstract {
                let condition =
                    entityTable.hasEntityColumn ? #" WHERE "_entity" = \#(entityTable.codes[entity] ?? 0)"# : ""
                let sql = "SELECT count(*) FROM \(entityTable.name)\(condition)"
                report.entities[entity.index].recoveredCount = try connection.withStatement(sql) { statement in
                    try statement.step() ? Int(statement.integer(at: 0)) : 0
                }
                report.entities[entity.index].lostValues = table.rows.lostValues[entity.name] ?? [:]
                report.entities[entity.index].cutReferences.merge(
                    table.rows.cutReferences[entity.name] ?? [:],
                    uniquingKeysWith: +
                )
            }
            let (lost, isExact) = try lostCount(of: table)
            report.entities[table.root.index].lostCount += lost
            report.entities[table.root.index].isLostCountExact = isExact
        }
    }

    private func lostCount(of table: RootTable) throws -> (Int, isExact: Bool) {
        let losses = table.losses
        let known = table.rows.rejectedCount + losses.unreadableRowCount
        guard !losses.ranges.isEmpty else { return (known, true) }
        for page in source.indexes(ofTable: schema.table(of: table.root).name) {
            let index = try file.readIndex(at: page) { _ in }
            if index.pageCount == 0 { return (max(0, index.readRowCount - table.rows.writtenCount), true) }
        }
        let mean = losses.readLeafCount > 0 ? Double(losses.readRowCount) / Double(losses.readLeafCount) : 1
        return (known + Int((mean * Double(losses.leafCount)).rounded(.up)), false)
    }
}
