import EncryptedSQLite
public import Foundation
import ObjectGraph

extension StoreExport {
    /// Exports objects as CSV without encryption: a new folder with a file for each entity, such as `Book.csv`.
    ///
    /// The article <doc:TextFormats> describes the format. `StoreImport.importCSV(from:progress:)` reads the
    /// folder, and restores every value bit for bit, unless the export is safe for spreadsheets.
    ///
    /// - Parameters:
    ///   - folder: The new folder, which only its owner can read.
    ///   - isSafeForSpreadsheets: Whether an apostrophe stands before each text that a spreadsheet program would evaluate
    ///     as a formula when it opens a file. The values are not exact then: use it for files that people read.
    ///   - progress: Reports the objects that were written, and cancels.
    /// - Throws: `DatabaseError` if the store cannot be read, if there is a file or folder of this name, or the disk is
    ///   full; `CancellationError`.
    public func exportCSV(
        to folder: URL,
        isSafeForSpreadsheets: Bool = false,
        progress: Progress? = nil
    ) throws {
        let new = try NewFolder(at: folder)
        try reading(progress) { reader in
            for entity in reader.entities {
                let output = OutputFile(try new.addFile(CSVFileNames.name(of: entity)))
                let properties = entity.properties.filter { property in
                    if case .relationship(let relationship) = property, relationship.isToMany {
                        return relationship.isWritten
                    }
                    return true
                }
                let names = properties.map { property in
                    let name = MemberName.text(of: property)
                    return isSafeForSpreadsheets ? SpreadsheetText.inert(name) : name
                }
                try output.write { CSVWriter.append([MemberName.id] + names, to: &$0) }
                try reader.forEachObject(of: entity) { object in
                    let fields = try properties.map { property -> String? in
                        let text = try text(property, of: object)
                        return isSafeForSpreadsheets ? text.map { SpreadsheetText.inert($0, of: property) } : text
                    }
                    try output.write { CSVWriter.append([String(object.key)] + fields, to: &$0) }
                }
                try output.flush()
            }
            reader.finish()
        }
        try new.complete()
    }

    /// The field of a property; nil for no value.
    private func text(_ property: Property, of object: ExportedObject) throws -> String? {
        switch property {
        case .attribute(let attribute):
            let value = try object.value(of: attribute)
            // A field holds the JSON text as it is.
            if attribute.type == .composite, case .text(let text) = value { return text }
            return ValueText(value, as: attribute.type)?.plain
        case .relationship(let relationship) where relationship.isToMany:
            return "[" + (object.members[relationship.slot] ?? []).map(String.init).joined(separator: ",") + "]"
        case .relationship(let relationship): return object.destination(of: relationship).map(String.init)
        }
    }
}

/// Writes records of CSV (RFC 4180), which end with a carriage return and a line feed.
enum CSVWriter {
    /// Appends a record. A field without a value is empty; an empty text is two quotes.
    static func append(_ fields: [String?], to bytes: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            guard let field else { continue }
            let needsQuotes =
                field.isEmpty
                || field.utf8.contains {
                    $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0A || $0 == 0x0D
                }
            guard needsQuotes else {
                bytes += field.utf8
                continue
            }
            bytes.append(UInt8(ascii: "\""))
            for byte in field.utf8 {
                if byte == UInt8(ascii: "\"") { bytes.append(byte) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "\r\n".utf8
    }
}
