import EncryptedSQLite
import Foundation
import ObjectGraph

/// The form of the texts of columns.
///
/// Swift's texts are equal where they are canonically equivalent, SQLite's where their bytes are. In a column whose texts are
/// all in Unicode's normalization form C, the bytes of a constant in that form decide, and an index serves the comparison; the
/// texts of another column are compared by Swift's order. The table `_metadata` records a column with the first text in
/// another form, in the transaction that writes the text, and keeps the record. ``FileConditions`` holds the records.
enum TextForms {
    /// Records, in the transaction that writes the texts, that columns have some in other forms.
    ///
    /// A new record changes the version of the schema, by which all connections, also those of other processes, notice it:
    /// see ``FileStates``.
    static func note(_ noted: Set<String>, on connection: Connection) throws {
        var isNew = false
        for name in noted.sorted() {
            try connection.withStatement(#"INSERT OR IGNORE INTO "_metadata" ("key", "value") VALUES (?, 1)"#) {
                try $0.bind(text: StoreMetadataTable.mixedFormsPrefix + name, at: 1)
                try $0.run()
                if connection.changes > 0 { isNew = true }
            }
        }
        if isNew { try StoreMetadataTable.announceChange(on: connection) }
    }

    /// Whether a text is in form C.
    static func isComposed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if TextSearch.isSimple(bytes) { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.composed.utf8.elementsEqual(text.utf8)
    }
}

/// What is found of texts in other forms while rows are written.
struct MixedTexts {
    private(set) var columns: Set<String> = []

    /// Notes that a text in another form, or in one that is not known, is written for a property.
    mutating func note(_ property: Property, of entity: Entity, in schema: StoreSchema) {
        let table = schema.table(of: entity)
        guard let column = table.column(of: property) else { return }
        columns.insert(FileConditions.name(of: column, in: table))
    }
}
