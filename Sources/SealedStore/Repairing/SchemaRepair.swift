public import EncryptedSQLite
public import Foundation
import ObjectGraph

/// Restores the part of a file's schema that contains no objects: indexes, R-trees, full-text indexes with their
/// triggers and views. Foreign triggers, views and unique indexes are removed.
struct SchemaRepair {
    private let connection: Connection
    private let schema: StoreSchema

    /// - Parameter connection: A connection in a write transaction.
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)``; ``SealedStoreError/notAStore``.
    init(on connection: Connection) throws {
        self.connection = connection
        let content = try StoreContent.read(on: connection)
        try content.metadata.names.validate(for: content.metadata.fileModel)
        schema = content.schema
    }

    /// The differences from the schema of the store.
    private func differences() throws -> ExpectedSchema.Differences {
        try ExpectedSchema(schema).differences(on: connection)
    }

    /// Whether the file has the schema of the store.
    func isComplete() throws -> Bool { try differences().firstObject == nil }

    /// Removes foreign objects, and creates and fills missing ones.
    ///
    /// - Returns: A problem for each object.
    /// - Throws: ``SealedStoreError/foreignSchema(object:)`` if a table is missing, altered or foreign; `DatabaseError` if
    ///   two objects have the same values of a uniqueness constraint whose index is missing.
    func run() throws -> [StoreProblem] {
        let found = try differences()
        if let table = found.firstTable { throw SealedStoreError.foreignSchema(named: table) }
        for object in found.foreign.sorted(by: { $0.removalOrder < $1.removalOrder }) {
            try connection.execute("DROP \(object.type.uppercased()) IF EXISTS \(SQL.quoted(object.name))")
        }
        var names = found.foreign.map(\.name)
        var left = try differences()
        for index in schema.indexes where left.concern(index) {
            for sql in index.removal + index.creation + index.population { try connection.execute(sql) }
        }
        names += left.missing.map(SQL.nameOfObject) + left.missingIndexes
        left = try differences()
        // An altered index can have the name of a missing index, or of an index that is recognized by its columns.
        for _ in 0...left.missingIndexes.count where !left.missingIndexes.isEmpty {
            let statements = SchemaStatements(schema).all
            for name in left.missingIndexes {
                guard let statement = statements.first(where: { SQL.nameOfObject(madeBy: $0) == name }) else {
                    continue
                }
                try connection.execute("DROP INDEX IF EXISTS \(SQL.quoted(name))")
                try connection.execute(statement)
            }
            left = try differences()
        }
        if let object = left.firstObject { throw SealedStoreError.foreignSchema(named: object) }
        let length = SealedStoreError.longestObjectName
        return Set(names).sorted().map { StoreProblem(.foreignSchema(String($0.prefix(length)))) }
    }
}

extension ExpectedSchema.Differences {
    /// The name of a table that is missing or foreign. Its objects are not known.
    fileprivate var firstTable: String? {
        foreign.first { $0.type == "table" }?.name
            ?? missing.first { $0.hasPrefix(ExpectedSchema.tableBeginning) }.map(SQL.nameOfObject)
    }

    /// Whether a part of an index is missing.
    fileprivate func concern(_ index: SchemaIndex) -> Bool {
        index.creation.contains { statement in
            missing.contains(statement) || missingIndexes.contains(SQL.nameOfObject(madeBy: statement))
        }
    }
}

extension ExpectedSchema.Differences.ForeignObject {
    /// A trigger is removed before the view to which it belongs.
    fileprivate var removalOrder: Int { type == "trigger" ? 0 : 1 }
}

extension SealedStore {
    /// Repairs the store in a file, without the program that made it; see ``repair(_:progress:)``.
    ///
    /// The file may also be a file that does not open because its schema was altered: with
    /// ``StoreRepairOptions/derivedData``, missing and altered indexes, R-trees and full-text indexes are made again,
    /// and triggers, views and unique indexes that the store did not make are removed. The tables must be complete.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - key: The key of the file.
    ///   - options: What the repair may change.
    ///   - progress: Counts to 1,000. It can be cancelled until the transaction is committed.
    /// - Returns: The repaired problems, and the check after the repair. If pages are damaged, nothing is repaired.
    /// - Throws: `DatabaseError`; ``SealedStoreError``; `CancellationError`.
    /// - Complexity: O(*n* log *n*) in the number of rows.
    @discardableResult
    public static func repair(
        _ url: URL,
        key: EncryptionKey,
        _ options: StoreRepairOptions = .derivedData,
        progress: Progress? = nil
    ) throws -> StoreRepairReport {
        let description = PersistentStoreDescription(type: storeType, url: url, options: [keyOption: key])
        do {
            return try repair(description, options, WorkProgress(progress))
        } catch let error as DatabaseError where error.mayBeDamageOfFirstPage {
            let problem = StoreProblem(.damage("a page cannot be read"))
            return StoreRepairReport(repaired: [], check: try reportOfPages(url, key, problem, progress))
        }
    }

    private static func repair(
        _ description: PersistentStoreDescription,
        _ options: StoreRepairOptions,
        _ progress: WorkProgress
    ) throws -> StoreRepairReport {
        // The next attempt does not find the problems that an attempt has repaired and committed.
        var repaired: [StoreProblem] = []
        return try ReplacedFile.beginningAgain { _ in
            if options.contains(.derivedData) {
                let (problems, damage) = try repairSchema(of: description, progress.part(0..<400))
                if let damage { return StoreRepairReport(repaired: repaired, check: damage) }
                repaired += problems
            }
            let opened = try StoreOpening(model: model(of: description), description: description).open()
            defer { try? opened.database.close() }
            let check = try ReplacedFile.using(opened.database) {
                try opened.repair(options, progress.part(400..<1000), repaired: &repaired)
            }
            return StoreRepairReport(repaired: repaired, check: check)
        }
    }

    /// - Returns: The repaired problems, or the report of a file with damaged pages.
    private static func repairSchema(
        of description: PersistentStoreDescription,
        _ progress: WorkProgress
    ) throws -> (repaired: [StoreProblem], damage: StoreReport?) {
        var isComplete = false
        let database = try StoreFile(description).open(createsIfMissing: false) { connection in
            isComplete = try SchemaRepair(on: connection).isComplete()
        }
        defer { try? database.close() }
        guard !isComplete else { return ([], nil) }
        return try ReplacedFile.using(database) { try repairSchema(of: database, progress) }
    }

    private static func repairSchema(
        of database: Database,
        _ progress: WorkProgress
    ) throws -> (repaired: [StoreProblem], damage: StoreReport?) {
        let pages = try database.verifyPages { done, all in try progress.show(500 * done / all) }
        guard pages.damagedPageCount == 0 else {
            let report = StoreReport(
                problems: pages.problems,
                pageCount: pages.pageCount,
                logPageCount: pages.logFrameCount
            )
            return ([], report)
        }
        do {
            let repaired = try database.write(isBulk: true) { connection in
                try progress.interrupting(connection) { try SchemaRepair(on: connection).run() }
            }
            return (repaired, nil)
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }
}
