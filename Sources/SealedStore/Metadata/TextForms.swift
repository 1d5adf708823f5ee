import EncryptedSQLite
import Foundation
import ObjectGraph

/// The form of the texts of columns.
///
/// In Swift, texts are equal if they are canonically equivalent; in SQLite, if their bytes are equal. If all texts of a
/// column are in Unicode's normalization form C, a comparison with the bytes of a constant in that form suffices, and
/// an index serves it. The texts of all other columns are compared in Swift's order. The table `_metadata` records a
/// column with the first text in another form, in the transaction that writes the text, and keeps the record.
/// ``FileConditions`` holds the records.
enum TextForms {
    /// Records columns with texts in other forms, in the transaction that writes the texts.
    ///
    /// A new record changes the version of the schema, by which all connections, also connections of other processes,
    /// detect it: see ``FileStates``.
    static func note(_ noted: Set<String>, on connection: Connection) throws {
        let rows = MetadataRows(connection: connection)
        var isNew = false
        for name in noted.sorted() where try rows.add(MetadataValues.mixedFormsPrefix + name, "1") { isNew = true }
        if isNew { try StoreMetadataTable.announceChange(on: connection) }
    }

    /// Whether a text is in form C.
    static func isComposed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if TextSearch.isSimple(bytes) { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.composed.utf8.elementsEqual(text.utf8)
    }
}

/// The columns for which texts in other forms were found while rows were written.
struct MixedTexts {
    private(set) var columns: Set<String> = []

    /// Records that a text in another or unknown form is written for a property.
    mutating func note(_ property: Property, of entity: Entity, in schema: StoreSchema) {
        let table = schema.table(of: entity)
        guard let column = table.column(of: property) else { return }
        columns.insert(FileConditions.name(of: column, in: table))
    }
}
