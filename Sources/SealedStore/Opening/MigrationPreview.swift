import EncryptedSQLite
import Foundation
public import ObjectGraph

/// The steps and the problems of a migration, computed without a change of the store.
public struct MigrationPreview: Sendable {
    /// The steps, in order, with the numbers of rows that they write. Empty if opening does not change the store.
    public let steps: [MigrationStep]
    /// The differences between the models, one on each line.
    public let differences: [String]
    /// The entities and properties of the store that the model does not have, and that would be set aside.
    public internal(set) var setAside: [SetAside] = []
    /// The entities and properties that are set aside now, and that the model has again.
    public internal(set) var returning: [SetAside] = []
    /// The reasons why the migration would throw.
    public let problems: [MigrationProblem]
    /// The stored values that the types of the program's properties do not accept; empty for a model without classes.
    /// The migration keeps them.
    public internal(set) var unreadableValues: [UnreadableValues] = []
    /// An estimate of the largest number of additional bytes that the migration needs in the folder of the store: in
    /// the file, in its log and in temporary files. It assumes that a new index is not larger than the file. Columns
    /// that are filled with long default values need more.
    public let expectedSpace: Int
}

extension SealedStore {
    /// Computes the migration of a store to a model. The store is opened for reading only, and does not change.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError`` if it is not a valid store, or has
    ///   a later version.
    /// - Complexity: O(*n*) in the number of rows that are checked or would be written.
    public static func migrationPreview(
        of description: PersistentStoreDescription,
        to model: ManagedObjectModel
    ) throws -> MigrationPreview {
        try migrationPreview(of: description, to: model) { _, _ in nil }
    }

    /// As ``migrationPreview(of:to:)``, with the stored values that the properties do not accept.
    package static func migrationPreview(
        of description: PersistentStoreDescription,
        to model: ManagedObjectModel,
        accepting acceptance: ValueAcceptance
    ) throws -> MigrationPreview {
        var description = description
        description.isReadOnly = true
        let file = try StoreFile(description)
        let reading = try StoreReading(model, file.configuration)
        return try file.examine { connection in
            let content = try StoreContent.read(on: connection)
            let stored = content.metadata
            var preview = try reading.preview(of: content, on: connection)
            let after = reading.setAside(from: stored)
            let before = stored.setAside
            preview.setAside = after.filter { !before.contains($0) }
            preview.returning = before.filter { item in
                reading.own.entitiesByName[item.entity].map { entity in
                    item.property.map { entity.propertiesByName[$0] != nil } ?? true
                } ?? false
            }
            preview.unreadableValues = try reading.unreadableValues(stored, acceptance, on: connection)
            return preview
        }
    }
}

extension StoreReading {
    /// The entities and properties that are set aside after an opening.
    fileprivate func setAside(from stored: StoreMetadataTable) -> [SetAside] {
        SetAside.items(in: ModelUnion.of(own, stored, removesMissing: removesMissing).model, beyond: own)
    }

    fileprivate func preview(of content: StoreContent, on connection: Connection) throws -> MigrationPreview {
        let stored = content.metadata
        if let refusal = refusal(of: stored) { throw refusal }
        let change = change(from: stored)
        guard case .shape(let differences) = change else {
            return try previewOfUpdate(stored, change.differences, on: connection)
        }
        let plan = try migration(of: content, on: connection)
        let problems = try checked.problems(plan.checks, on: connection, progress: nil)
        var steps = try plan.steps.map { step in
            var step = step
            guard !step.copies.isEmpty else { return step }
            step.rows = try step.copies.reduce(0) { rows, copy in
                let sql = "SELECT count(*) FROM \(copy.source)\(copy.conditions.joined(behind: "WHERE"))"
                return try rows + count(sql, on: connection)
            }
            return step
        }
        let unresolved = unresolved(problems)
        let firstIndex = steps.firstIndex { $0.kind == .buildIndex || $0.kind == .recordModel } ?? steps.endIndex
        steps.insert(contentsOf: problems.filter { !unresolved.contains($0) }.map(merge), at: firstIndex)
        return MigrationPreview(
            steps: steps,
            differences: differences,
            problems: unresolved,
            expectedSpace: try size(on: connection) * Self.growth(of: steps, addingIndexesTo: stored, plan.metadata)
        )
    }

    /// The steps for a store that needs no migration: opening adds indexes, and records rules and the version.
    private func previewOfUpdate(
        _ stored: StoreMetadataTable,
        _ differences: [String],
        on connection: Connection
    ) throws -> MigrationPreview {
        let names = try IndexUpdate.names(adding: own, to: stored, on: connection)
        let union = ModelUnion.of(own, stored, removesMissing: removesMissing).model
        let schema = StoreSchema(model: own, names: names, file: union === own ? nil : union)
        var steps = names.indexes.filter { !stored.names.indexes.contains($0) }.compactMap { name in
            SchemaIndex(name, model: own, table: schema.table).map { index in
                MigrationStep(.buildIndex, name.entity, name.index.properties, index.creation + index.population)
            }
        }
        let buildsIndex = !steps.isEmpty
        if needsUpdate(stored) { steps.append(MigrationStep(.recordModel)) }
        return MigrationPreview(
            steps: steps,
            differences: differences,
            problems: [],
            expectedSpace: buildsIndex ? try Self.growthByIndexes * size(on: connection) : 0
        )
    }

    /// The multiple of the size of the file that new indexes need: they are sorted in a temporary file, and written to
    /// the log and to the file.
    private static let growthByIndexes = 3

    /// The multiple of the size of the file by which a migration increases the file and the files beside it: each copy
    /// of a table is written to the log and to the file.
    private static func growth(
        of steps: [MigrationStep],
        addingIndexesTo old: StoreMetadataTable,
        _ new: StoreMetadataTable
    ) -> Int {
        let rebuilt = Set(steps.filter { $0.kind == .rebuildTable }.compactMap(\.entity))
        let addsIndex =
            new.names.indexes.contains { !old.names.indexes.map(\.name).contains($0.name) }
            || steps.contains { step in
                step.kind == .buildIndex
                    && !(step.entity.flatMap { new.model.entitiesByName[$0] }
                        .map { rebuilt.contains(new.model.root(of: $0).name) } ?? false)
            }
        let copies = (steps.contains { !$0.copies.isEmpty } ? 2 : 0) + (addsIndex ? growthByIndexes : 0)
        // Duplicates are merged in the migrated tables, which may then be rebuilt.
        return steps.contains { $0.kind == .mergeDuplicates } ? max(2 * copies, 2) : copies
    }

    /// The step by which a rule resolves a problem.
    private func merge(_ problem: MigrationProblem) -> MigrationStep {
        guard case .duplicates(let properties) = problem.kind else { return MigrationStep(.mergeDuplicates) }
        var step = MigrationStep(.mergeDuplicates, problem.entity, properties)
        step.rows = problem.rows
        return step
    }

    /// The size of the file in bytes. The library cannot count the pages of a single table.
    private func size(on connection: Connection) throws -> Int {
        try count("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", on: connection)
    }

    private func count(_ sql: String, on connection: Connection) throws -> Int {
        try connection.withUncachedStatement(sql) { row in try row.step() ? Int(row.integer(at: 0)) : 0 }
    }
}
