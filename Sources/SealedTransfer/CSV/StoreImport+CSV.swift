public import Foundation
import ObjectGraph

extension StoreImport {
    /// Imports a folder of CSV files: the file `Book.csv` has the objects of the entity `Book`. Other files are ignored
    /// and named in the report.
    ///
    /// The article <doc:TextFormats> describes the format.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - progress: Reports the bytes that were read, and cancels.
    /// - Throws: ``TransferError`` with line and column; `CancellationError`; errors of the store. Nothing is imported
    ///   then.
    /// - Complexity: O(*n* log *n*) in the number of objects.
    @discardableResult
    public func importCSV(from folder: URL, progress: Progress? = nil) throws -> ImportReport {
        let model = try targetModel()
        let path = folder.path(percentEncoded: false)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw TransferError.unreadable(file: folder.lastPathComponent, reason: "it is not a readable folder")
        }
        var files: [String: URL] = [:]
        var others = Set(names)
        for entity in model.entities where others.remove(CSVFileNames.name(of: entity)) != nil {
            files[entity.name] = folder.appending(path: CSVFileNames.name(of: entity))
        }
        var report = try importCSV(from: files, progress: progress)
        report.notImported += others.sorted().map { "\($0): no entity has this name" }
        return report
    }

    /// Imports CSV files, given by the names of the entities whose objects they have.
    ///
    /// - Parameters:
    ///   - files: The files by the name of the entity.
    ///   - progress: Reports the bytes that were read, and cancels.
    /// - Throws: ``TransferError`` with line and column; `CancellationError`; errors of the store. Nothing is imported
    ///   then.
    @discardableResult
    public func importCSV(from files: [String: URL], progress: Progress? = nil) throws -> ImportReport {
        let model = try targetModel()
        if let unknown = files.keys.sorted().first(where: { model.entitiesByName[$0] == nil }) {
            throw TransferError.unsupported("the unknown entity '\(unknown)'")
        }
        let sources = model.entities.compactMap { entity in files[entity.name].map { (entity: entity, url: $0) } }
        return try run(CSVSource(sources, model, options), model, progress)
    }
}
