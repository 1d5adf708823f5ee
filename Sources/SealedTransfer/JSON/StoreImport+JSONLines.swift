public import Foundation
import ObjectGraph

extension StoreImport {
    /// Imports a file of JSON lines: one object a line, in UTF-8.
    ///
    /// The article <doc:TextFormats> describes the format.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - entity: The name of the entity of objects without a member `_entity`; nil if each object has one.
    ///   - progress: Reports the bytes that were read, and cancels.
    /// - Throws: ``TransferError`` with line and column; `CancellationError`; errors of the store. Nothing is imported
    ///   then.
    /// - Complexity: O(*n* log *n*) in the number of objects.
    @discardableResult
    public func importJSONLines(
        from file: URL,
        entity: String? = nil,
        progress: Progress? = nil
    ) throws -> ImportReport {
        let model = try targetModel()
        let defaultEntity = try entity.map { name in
            guard let entity = model.entitiesByName[name] else {
                throw TransferError.unsupported("the unknown entity '\(name)'")
            }
            return entity
        }
        return try run(JSONLinesSource(file, model, defaultEntity: defaultEntity, options), model, progress)
    }
}
