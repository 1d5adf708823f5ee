import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph

/// Which columns hold texts that are not in Unicode's normalization form C.
///
/// Swift's texts are equal where they are canonically equivalent, SQLite's where their bytes are. In a column whose texts are
/// all in form C, the bytes of a constant in that form decide, and an index serves the comparison; the texts of another
/// column are compared by Swift's order. A column gets here with the first such text, in the transaction that writes it, and
/// stays.
final class TextForms: Sendable {
    private let columns: Guarded<Set<String>>

    /// - Parameter columns: Those that ``name(of:in:)`` names, as the store recorded them.
    init(_ columns: Set<String> = []) {
        self.columns = Guarded(columns)
    }

    /// How many columns have texts in other forms.
    var count: Int { columns.withLock { $0.count } }

    /// Whether a column has texts in other forms.
    func areMixed(in column: Column, of table: EntityTable) -> Bool {
        columns.withLock { !$0.isEmpty && $0.contains(Self.name(of: column, in: table)) }
    }

    /// Records, in the transaction that writes the texts, that columns have some in other forms.
    func note(_ noted: Set<String>, on connection: Connection) throws {
        guard !noted.isEmpty else { return }
        // Before the texts can be read: who knows too early that there are some only takes longer.
        columns.withLock { $0.formUnion(noted) }
        for name in noted.sorted() {
            try connection.withStatement(#"INSERT OR IGNORE INTO "_metadata" ("key", "value") VALUES (?, 1)"#) {
                try $0.bind(text: StoreMetadataTable.mixedFormsPrefix + name, at: 1)
                try $0.run()
            }
        }
    }

    static func name(of column: Column, in table: EntityTable) -> String { "\(table.name).\(column.name)" }

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
        columns.insert(TextForms.name(of: column, in: table))
    }
}
