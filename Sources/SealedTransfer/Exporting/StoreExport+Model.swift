import EncryptedSQLite
public import Foundation
import ObjectGraph
import SealedStore

extension StoreExport {
    /// Exports the model of the store as JSON, from which `ManagedObjectModel` decodes itself. The file has no objects.
    ///
    /// - Throws: `DatabaseError` if the store cannot be read, if there is a file of this name, or the disk is full.
    public func exportModel(to file: URL) throws {
        let new = try PlaintextFile(at: file)
        try reading(nil) { reader in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let json = JSONString.visible(String(decoding: try encoder.encode(reader.model), as: UTF8.self))
            let output = OutputFile(new.descriptor)
            try output.write { $0 += json.utf8 }
            try output.flush()
        }
        try new.complete()
    }
}
