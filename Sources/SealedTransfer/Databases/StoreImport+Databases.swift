public import EncryptedSQLite
public import Foundation
import ObjectGraph

/// The encryption of a database that is imported.
public enum DatabaseEncryption: Sendable {
    /// A SQLite database without encryption.
    case none
    /// A database of SQLCipher 4, with its default settings.
    case sqlCipher4(EncryptionKey)
    /// A database of SQLCipher 3, with its default settings.
    case sqlCipher3(EncryptionKey)

    func open(_ url: URL) throws -> ForeignDatabase {
        switch self {
        case .none: try ForeignDatabase(url, key: nil)
        case .sqlCipher4(let key): try ForeignDatabase(url, key: key, format: .sqlCipher4)
        case .sqlCipher3(let key): try ForeignDatabase(url, key: key, format: .sqlCipher3)
        }
    }
}

extension StoreImport {
    /// Imports any SQLite or SQLCipher database into a new store, whose model is inferred from the tables and their
    /// values.
    ///
    /// Tables become entities, columns attributes, foreign keys relationships with inverses, and tables that only join
    /// two other tables many-to-many relationships; the article <doc:ImportingDatabases> describes the rules. Views,
    /// virtual tables, generated columns and partial indexes are not imported, and are named in the report.
    ///
    /// The database is not changed, nor are the files beside it. Its content is not trusted: no trigger or view runs.
    ///
    /// - Parameters:
    ///   - database: The file of the database.
    ///   - encryption: The encryption of the database.
    ///   - interpretations: The meanings of columns whose values stand for values of another type, by `table.column`:
    ///     without an interpretation, a number of seconds remains a number. Each name must name a column that becomes
    ///     an attribute.
    ///   - progress: Reports the rows that were read, and cancels.
    /// - Returns: The report. Its model is the model of the new store.
    /// - Throws: `DatabaseError` if the database cannot be opened, or the store exists; ``TransferError``;
    ///   `CancellationError`. No store is made then.
    /// - Complexity: O(*n* log *n*) in the number of rows, each of which is read twice or three times.
    @discardableResult
    public func importDatabase(
        from database: URL,
        encryption: DatabaseEncryption = .none,
        interpretations: [String: ColumnInterpretation] = [:],
        progress: Progress? = nil
    ) throws -> ImportReport {
        guard !storeExists else {
            throw DatabaseError.cannotOpen(
                path: url.path(percentEncoded: false),
                reason: "a database is imported into a new store, and a file of this name exists"
            )
        }
        let foreign = try encryption.open(database)
        defer { foreign.close() }
        return try foreign.read { connection in
            let inferred = try InferredModel(connection, options, interpretations, progress)
            return try run(DatabaseSource(inferred: inferred, connection: connection), inferred.model, progress)
        }
    }
}
