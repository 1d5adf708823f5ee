import EncryptedSQLite
public import Foundation
import ObjectGraph

extension StoreImport {
    /// Imports a store of Core Data or SwiftData: its SQLite file, its write-ahead log, and the values that it keeps in
    /// files beside it.
    ///
    /// The target needs a ``model``, the model of the store: entities and properties are found by their names. The
    /// article <doc:ImportingDatabases> describes the layout that is read. No file of the store is changed.
    ///
    /// Objects keep the numbers of their identifiers if the target never had objects of the entity.
    ///
    /// - Parameters:
    ///   - store: The SQLite file.
    ///   - conversions: Makes the values of attributes that the import cannot read itself, such as transformable
    ///     attributes and structs of SwiftData, which have a column for each of their properties. The key is
    ///     `Entity.attribute`, with the entity that declares the attribute.
    ///   - progress: Reports the rows that were read, and cancels.
    /// - Returns: The report, with the tables and columns that the model does not have, and with the properties that the
    ///   file does not have.
    /// - Throws: ``TransferError``; `DatabaseError` if a file cannot be opened; `CancellationError`. Nothing is imported
    ///   then.
    /// - Complexity: O(*n* log *n*) in the number of objects.
    @discardableResult
    public func importCoreData(
        from store: URL,
        conversions: [String: CoreDataConversion] = [:],
        progress: Progress? = nil
    ) throws -> ImportReport {
        let model = try targetModel()
        let foreign = try DatabaseEncryption.none.open(store)
        defer { foreign.close() }
        return try foreign.read { connection in
            let layout = try CoreDataLayout(connection, model, options.limits)
            let values = CoreDataValues(beside: store)
            return try run(CoreDataSource(layout, connection, values, conversions), model, progress)
        }
    }
}
