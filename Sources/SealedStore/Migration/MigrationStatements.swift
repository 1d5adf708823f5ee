import ObjectGraph

/// The statements of a migration, in an order that satisfies the dependencies between them.
///
/// New tables are filled from the old tables under temporary names. Old tables are altered or removed only afterwards:
/// while rows are copied, the old schema is unchanged.
struct MigrationStatements {
    private let context: MigrationContext
    private let tables: [TableMigration]
    private(set) var steps: [MigrationStep] = []

    /// The alterations of tables whose rows are not rewritten, by the names of root entities.
    private var alterations: [String: TableMigration.Alteration] = [:]
    /// The join tables whose rows are not rewritten, with their old tables, by the index of the canonical relationship.
    private var keptJoinTables: [Int: (old: JoinTable, additions: [(name: String, definition: String)])] = [:]
    /// The old tables that are removed, quoted.
    private var removedTables: Set<String> = []
    /// The indexes of the file that remain.
    private var keptIndexes: Set<DerivedIndex> = []
    /// The folded names that are taken while the migration runs, beginning with the objects of the old schema.
    private var names: UniqueNames
    /// New tables that still have a temporary name, with the temporary and the final name, quoted.
    private var temporaryNames: [(temporary: String, final: String, entity: String, properties: [String])] = []

    init(_ context: MigrationContext, _ tables: [TableMigration]) {
        self.context = context
        self.tables = tables
        names = UniqueNames(context.file.objects.map(\.name))
    }

    private var oldSchema: StoreSchema { context.oldSchema }
    private var newSchema: StoreSchema { context.newSchema }
    private var newRelationships: [Relationship] {
        context.mapping.new.relationships.filter { $0.placement == .joinTable(isCanonical: true) }
    }

    /// Builds the steps.
    mutating func build() {
        for table in tables {
            guard let source = table.sources.first else { continue }
            alterations[table.root.name] = table.alteration(context.file.definition(ofTable: source.oldTable.name))
        }
        for relationship in newRelationships { keptJoinTables[relationship.index] = keptJoinTable(relationship) }
        let kept = keptDeclaredIndexes()
        removeIndexes(keeping: kept)
        for table in tables where alterations[table.root.name] == nil { rebuild(table) }
        for relationship in newRelationships where keptJoinTables[relationship.index] == nil { copyPairs(relationship) }
        removeTables()
        alterTables()
        for (temporary, final, entity, properties) in temporaryNames {
            steps.append(
                MigrationStep(.renameTable, entity, properties, ["ALTER TABLE \(temporary) RENAME TO \(final)"])
            )
        }
        buildIndexes(keeping: kept)
        steps.append(MigrationStep(.recordModel))
    }

    // MARK: Tables

    private mutating func newTable(_ name: String, _ entity: String, _ properties: [String] = []) -> String {
        let unquoted = SQL.unquoted(name)
        let free = names.add(unquoted)
        guard free != unquoted else { return name }
        let temporary = SQL.quoted(names.add("_migration"))
        temporaryNames.append((temporary, name, entity, properties))
        return temporary
    }

    private mutating func rebuild(_ table: TableMigration) {
        let name = newTable(table.table.name, table.root.name)
        let creation = SchemaStatements.creation(of: table.table, named: name)
        steps.append(
            table.sources.isEmpty
                ? MigrationStep(.createTable, table.root.name, [], [creation])
                : MigrationStep(.rebuildTable, table.root.name, [], [creation], copies: table.copies(into: name))
        )
    }

    /// The old join table that becomes the join table of a new relationship; nil if the pairs must be rewritten.
    private func keptJoinTable(
        _ relationship: Relationship
    ) -> (old: JoinTable, additions: [(name: String, definition: String)])? {
        let pairs = context.pairs(of: relationship)
        guard pairs.sources.count == 1, let source = pairs.filled.first, source.ownerOffset == 0,
            source.memberOffset == 0, source.conditions.isEmpty, source.foreignMembers.isEmpty,
            case .joinTable(let isCanonical) = source.old.placement, isCanonical != source.isReversed,
            (relationship.inverse === relationship) == (source.old.inverse === source.old),
            let old = oldSchema.joinTables[source.old.index], let new = newSchema.joinTables[relationship.index]
        else { return nil }
        var additions: [(name: String, definition: String)] = []
        let back = relationship.inverse.flatMap { $0 === relationship ? nil : newSchema.joinTables[$0.index] }
        for (position, known) in [(new.position, source.memberPosition), (back?.position, source.ownerPosition)] {
            switch (position, known) {
            case (let position?, nil):
                additions.append((position, SchemaStatements.positionDefinition(of: position)))
            case (nil, .some): return nil
            default: break
            }
        }
        return (old, additions)
    }

    private mutating func copyPairs(_ relationship: Relationship) {
        guard let table = newSchema.joinTables[relationship.index] else { return }
        let name = newTable(table.name, relationship.source.name, [relationship.name])
        guard let creation = SchemaStatements.creation(ofJoinTable: relationship, newSchema, named: name) else {
            return
        }
        let back = relationship.inverse.flatMap { $0 === relationship ? nil : newSchema.joinTables[$0.index] }
        let sources = context.pairs(of: relationship).filled
        let copies = sources.enumerated().map { index, source in
            var columns = [table.owner, table.member]
            var values = [source.newOwner, source.newMember]
            // Positions from several sources could collide, so only the first source keeps its positions. Members
            // without a position are last, by key.
            if index == 0, let position = table.position, let value = source.memberPosition {
                columns.append(position)
                values.append(value)
            }
            if index == 0, let position = back?.position, let value = source.ownerPosition {
                columns.append(position)
                values.append(value)
            }
            return RowCopy(
                insertion: """
                    INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) \
                    SELECT \(values.joined(separator: ", ")) FROM \(source.table) AS p
                    """,
                conditions: source.conditions,
                table: source.table,
                alias: "p",
                key: source.orderingColumn
            )
        }
        let kind: MigrationStep.Kind = copies.isEmpty ? .createTable : .copyPairs
        steps.append(MigrationStep(kind, relationship.source.name, [relationship.name], [creation], copies: copies))
    }

    private mutating func removeTables() {
        let altered = Set(alterations.values.map(\.oldTable.name))
        for root in oldSchema.model.entities where root.isRoot {
            let name = oldSchema.table(of: root).name
            guard !altered.contains(name) else { continue }
            removedTables.insert(name)
            steps.append(MigrationStep(.removeTable, root.name, [], Self.removal(of: name)))
        }
        let kept = Set(keptJoinTables.values.map(\.old.name))
        for relationship in oldSchema.model.relationships where relationship.placement == .joinTable(isCanonical: true)
        {
            guard let table = oldSchema.joinTables[relationship.index], !kept.contains(table.name) else { continue }
            removedTables.insert(table.name)
            steps.append(
                MigrationStep(
                    .removeTable,
                    relationship.source.name,
                    [relationship.name],
                    Self.removal(of: table.name)
                )
            )
        }
    }

    /// The statements that remove a table. DROP TABLE alone can fail halfway, so SQLite would keep the old content of
    /// all pages in memory. DELETE without a condition cannot fail halfway, as long as the table has no triggers.
    private static func removal(of table: String) -> [String] { ["DELETE FROM \(table)", "DROP TABLE \(table)"] }

    private mutating func alterTables() {
        var renames: [(old: String, new: String, entity: String, properties: [String])] = []
        for table in tables {
            guard let alteration = alterations[table.root.name] else { continue }
            if alteration.oldTable.name != table.table.name {
                renames.append((alteration.oldTable.name, table.table.name, table.root.name, []))
            }
        }
        for relationship in newRelationships {
            guard let kept = keptJoinTables[relationship.index],
                let new = newSchema.joinTables[relationship.index], new.name != kept.old.name
            else { continue }
            renames.append((kept.old.name, new.name, relationship.source.name, [relationship.name]))
        }
        let taken = Set(renames.map { SQL.foldedName($0.old) })
        var fromTemporaryNames: [MigrationStep] = []
        var direct: [MigrationStep] = []
        for (old, new, entity, properties) in renames {
            let step = { (source: String, target: String) in
                MigrationStep(.renameTable, entity, properties, ["ALTER TABLE \(source) RENAME TO \(target)"])
            }
            if taken.contains(SQL.foldedName(new)) {
                let temporary = SQL.quoted(names.add("_migration"))
                steps.append(step(old, temporary))
                fromTemporaryNames.append(step(temporary, new))
            } else {
                direct.append(step(old, new))
            }
        }
        // A table with a temporary name gets its final name after all other tables have given up their old names.
        steps += direct + fromTemporaryNames
        for table in tables {
            guard let alteration = alterations[table.root.name] else { continue }
            rename(alteration.renames, in: table)
            add(alteration.additions, to: table.table.name, table.root.name)
        }
        for relationship in newRelationships {
            guard let kept = keptJoinTables[relationship.index], let new = newSchema.joinTables[relationship.index]
            else { continue }
            add(kept.additions, to: new.name, relationship.source.name, relationship.name)
        }
    }

    private mutating func rename(_ renames: [(old: String, new: String)], in table: TableMigration) {
        guard !renames.isEmpty else { return }
        let taken = Set(renames.map { SQL.foldedName($0.old) })
        var columns = UniqueNames(
            table.columns.map { SQL.unquoted($0.name) } + renames.map { SQL.unquoted($0.old) }
        )
        var toTemporaryNames: [String] = []
        var direct: [String] = []
        var fromTemporaryNames: [String] = []
        let statement = { (source: String, target: String) in
            "ALTER TABLE \(table.table.name) RENAME COLUMN \(source) TO \(target)"
        }
        for (old, new) in renames {
            if taken.contains(SQL.foldedName(new)) {
                let temporary = SQL.quoted(columns.add("_migration"))
                toTemporaryNames.append(statement(old, temporary))
                fromTemporaryNames.append(statement(temporary, new))
            } else {
                direct.append(statement(old, new))
            }
        }
        let names = Set(renames.map(\.new))
        let properties = table.columns.filter { names.contains($0.name) }.compactMap(\.property?.name)
        // A column with a temporary name gets its final name after all other columns have given up their old names.
        let statements = toTemporaryNames + direct + fromTemporaryNames
        steps.append(MigrationStep(.renameColumns, table.root.name, properties, statements))
    }

    private mutating func add(
        _ additions: [(name: String, definition: String)],
        to table: String,
        _ entity: String,
        _ property: String? = nil
    ) {
        guard !additions.isEmpty else { return }
        steps.append(
            MigrationStep(
                adding: additions.map(\.definition),
                to: table,
                entity,
                property.map { [$0] } ?? additions.map { SQL.unquoted($0.name) }
            )
        )
    }

    // MARK: Indexes

    /// The names of the declared indexes whose content remains valid.
    private func keptDeclaredIndexes() -> Set<String> {
        var kept: Set<String> = []
        for name in newSchema.names.indexes {
            guard let old = oldSchema.names.indexes.first(where: { $0.name == name.name }),
                let before = SchemaIndex(old, model: oldSchema.model, table: oldSchema.table)?.indexedTable,
                let after = SchemaIndex(name, model: newSchema.model, table: newSchema.table)?.indexedTable,
                before.codes == after.codes,
                alterations[context.mapping.new.root(of: after.entity).name]?.oldTable.name == before.table
            else { continue }
            kept.insert(name.name)
        }
        return kept
    }

    private mutating func removeIndexes(keeping kept: Set<String>) {
        let altered = Set(alterations.values.map(\.oldTable.name))
        for name in oldSchema.names.indexes where !kept.contains(name.name) {
            guard let index = SchemaIndex(name, model: oldSchema.model, table: oldSchema.table) else { continue }
            // SQLite removes the index together with its table.
            if case .binary = index, let table = index.indexedTable?.table, !altered.contains(table) { continue }
            steps.append(MigrationStep(.removeIndex, name.entity, name.index.properties, index.removal))
        }
        for (old, new) in alteredTables {
            let needed = Set(derivedIndexes(of: new))
            for index in oldIndexes(of: old) {
                let moved = index.moved(alterations[new.root.name]?.renames ?? [], to: new.table.name)
                if let same = needed.first(where: { $0.isSame(as: moved) }) {
                    keptIndexes.insert(same)
                } else {
                    remove(index, old.root.name)
                }
            }
        }
        for relationship in newRelationships where keptJoinTables[relationship.index] != nil {
            keptIndexes.formUnion(DerivedIndex.ofPairs(in: relationship, newSchema))
        }
    }

    private mutating func remove(_ index: DerivedIndex, _ entity: String) {
        let statements = context.file.names(of: index).map { "DROP INDEX \(SQL.quoted($0))" }
        if !statements.isEmpty { steps.append(MigrationStep(.removeIndex, entity, [], statements)) }
    }

    private var alteredTables: [(old: EntityTable, new: TableMigration)] {
        tables.compactMap { table in alterations[table.root.name].map { ($0.oldTable, table) } }
    }

    private func derivedIndexes(of table: TableMigration) -> [DerivedIndex] {
        DerivedIndex.ofKeys(in: table.table)
            + table.root.family.flatMap { DerivedIndex.ofConstraints(of: $0, newSchema) }
    }

    private func oldIndexes(of table: EntityTable) -> [DerivedIndex] {
        DerivedIndex.ofKeys(in: table) + table.root.family.flatMap { DerivedIndex.ofConstraints(of: $0, oldSchema) }
    }

    private mutating func buildIndexes(keeping kept: Set<String>) {
        // The removal of a table has removed its indexes.
        let objects = context.file.objects.filter { !removedTables.contains(SQL.quoted($0.table)) }
        var names = UniqueNames(
            UniqueNames(objects.map(\.name) + newSchema.allTableNames),
            newSchema.names.indexes
        )
        keepForeignIndexes(&names)
        for table in tables {
            for index in derivedIndexes(of: table) where !keptIndexes.contains(index) {
                build(index, named: names.add(index.name), table.root.name)
            }
        }
        for relationship in newRelationships where keptJoinTables[relationship.index] == nil {
            for index in DerivedIndex.ofPairs(in: relationship, newSchema) {
                build(index, named: names.add(index.name), relationship.source.name)
            }
        }
        for name in newSchema.names.indexes where !kept.contains(name.name) {
            guard let index = SchemaIndex(name, model: newSchema.model, table: newSchema.table) else { continue }
            let statements = index.creation + index.population
            guard !statements.isEmpty else { continue }
            steps.append(MigrationStep(.buildIndex, name.entity, name.index.properties, statements))
        }
    }

    /// Creates the indexes of other programs again on the tables that are rebuilt.
    private mutating func keepForeignIndexes(_ names: inout UniqueNames) {
        let roots = oldSchema.model.entities.filter(\.isRoot).map { oldSchema.table(of: $0) }
        let declared = Set(
            oldSchema.names.indexes.flatMap { name in
                let index = SchemaIndex(name, model: oldSchema.model, table: oldSchema.table)
                // A full-text index consists of several objects.
                return index.map { $0.creation.map(SQL.nameOfObject(madeBy:)) } ?? []
            }
        )
        let own = Set(roots.flatMap { oldIndexes(of: $0) }.flatMap { context.file.names(of: $0) })
        let foreign = context.file.indexes.filter { !own.contains($0.name) && !declared.contains($0.name) }
        for table in tables where alterations[table.root.name] == nil {
            for source in table.sources {
                let columns = table.newColumns(of: source, context)
                let old = source.oldTable.columns.map(\.name) + Array(source.oldTable.positionColumns.values)
                let removed = (old + [#""_entity""#]).filter { columns[$0] == nil }
                for index in foreign where index.table == source.oldTable.name {
                    guard let creation = index.creation(on: table.table.name, columns, removed: removed),
                        names.add(ifFree: index.name)
                    else { continue }
                    steps.append(
                        MigrationStep(
                            rebuilding: index.name,
                            table.root.name,
                            creation.columns.map(SQL.unquoted),
                            creation.sql
                        )
                    )
                }
            }
        }
    }

    private mutating func build(_ index: DerivedIndex, named name: String, _ entity: String) {
        let properties = index.columns.map(SQL.unquoted)
        steps.append(MigrationStep(.buildIndex, entity, properties, [index.creation(named: name)]))
    }
}

extension StoreSchema {
    /// The names of all tables.
    fileprivate var allTableNames: [String] {
        (tables.map(\.name) + joinTables.compactMap { $0?.name }).map(SQL.unquoted)
    }
}

extension SchemaIndex {
    /// The rows and columns that the index covers.
    var indexedTable: IndexedTable? {
        switch self {
        case .binary(let index): index.indexed
        case .rtree(let index): index.indexed
        case .fullText(let index): index.indexed
        }
    }
}

extension DerivedIndex {
    /// The index after its table and columns are renamed.
    fileprivate func moved(_ renames: [(old: String, new: String)], to table: String) -> DerivedIndex {
        let names = Dictionary(renames.map { ($0.old, $0.new) }, uniquingKeysWith: { first, _ in first })
        var index = self
        index.table = table
        index.columns = columns.map { names[$0] ?? $0 }
        return index
    }

    /// Whether two indexes differ at most in their names.
    fileprivate func isSame(as other: DerivedIndex) -> Bool {
        table == other.table && columns == other.columns && isUnique == other.isUnique && codes == other.codes
    }
}
