import EncryptedSQLite
public import Foundation
import ObjectGraph

extension StoreExport {
    /// Exports objects as JSON lines: one object a line, in UTF-8, without encryption.
    ///
    /// The article <doc:TextFormats> describes the format. ``StoreImport/importJSONLines(from:entity:progress:)`` reads
    /// the file, and restores every value bit for bit.
    ///
    /// - Parameters:
    ///   - file: The new file.
    ///   - progress: Reports the objects that were written, and cancels.
    /// - Throws: `DatabaseError` if the store cannot be read, if there is a file of this name, or the disk is full;
    ///   `CancellationError`.
    public func exportJSONLines(to file: URL, progress: Progress? = nil) throws {
        let new = try PlaintextFile(at: file)
        try reading(progress) { reader in
            let output = OutputFile(new.descriptor)
            for entity in reader.entities {
                try reader.forEachObject(of: entity) { object in
                    try output.write { try JSONObjectWriter.append(object, to: &$0) }
                }
            }
            try output.flush()
            reader.finish()
        }
        try new.complete()
    }
}

/// Writes an object as a line of JSON.
enum JSONObjectWriter {
    static func append(_ object: ExportedObject, to bytes: inout [UInt8]) throws {
        bytes += "{\"_entity\":".utf8
        JSONString.append(object.entity.name, to: &bytes)
        bytes += ",\"_id\":\(object.key)".utf8
        for property in object.entity.properties {
            if case .relationship(let relationship) = property, relationship.isToMany, !relationship.isWritten {
                continue
            }
            bytes.append(UInt8(ascii: ","))
            JSONString.append(MemberName.text(of: property), to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            try append(property, of: object, to: &bytes)
        }
        bytes += "}\n".utf8
    }

    private static func append(_ property: Property, of object: ExportedObject, to bytes: inout [UInt8]) throws {
        switch property {
        case .attribute(let attribute):
            switch ValueText(try object.value(of: attribute), as: attribute.type) {
            case nil: bytes += "null".utf8
            case .literal(let text): bytes += text.utf8
            case .string(let text): JSONString.append(text, to: &bytes)
            }
        case .relationship(let relationship) where relationship.isToMany:
            let members = object.members[relationship.slot] ?? []
            bytes += "[\(members.map(String.init).joined(separator: ","))]".utf8
        case .relationship(let relationship):
            bytes += (object.destination(of: relationship).map(String.init) ?? "null").utf8
        }
    }
}
