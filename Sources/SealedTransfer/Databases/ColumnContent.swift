import EncryptedSQLite
import Foundation
import ObjectGraph

/// The storage classes of the values in a column, counted in one pass over its table.
struct ColumnContent {
    private(set) var nulls = 0
    private(set) var integers = 0
    private(set) var reals = 0
    private(set) var texts = 0
    private(set) var blobs = 0
    /// Whether all integers are 0 or 1.
    private var areBooleans = true

    mutating func count(_ row: borrowing Statement, _ index: Int32) {
        switch row.columnType(index) {
        case .null: nulls += 1
        case .integer:
            integers += 1
            if areBooleans, ![0, 1].contains(row.integer(at: index)) { areBooleans = false }
        case .real: reals += 1
        case .text: texts += 1
        case .blob: blobs += 1
        }
    }

    /// Whether the values are of several storage classes that no single attribute type has.
    var isMixed: Bool { [integers + reals, texts, blobs].filter { $0 > 0 }.count > 1 }

    /// The type that has all values. Values of a mixed column become text, or data if there are blobs.
    func type(declaredAs declaredType: String) -> AttributeType {
        if blobs > 0 { return .data }
        if texts > 0 { return .string }
        if reals > 0 { return .double }
        let isBoolean = declaredType.hasPrefix("BOOL")
        if integers > 0 { return isBoolean && areBooleans ? .bool : .int64 }
        // A column without values has a type by SQLite's rules of affinity ("Datatypes In SQLite", section 3.1).
        if declaredType.contains("INT") { return .int64 }
        if ["CHAR", "CLOB", "TEXT"].contains(where: declaredType.contains) { return .string }
        if declaredType.contains("BLOB") || declaredType.isEmpty { return .data }
        return isBoolean ? .bool : .double
    }

    /// Reads a value of the current row as a type of ``type(declaredAs:)``.
    ///
    /// - Returns: nil for a text that is not UTF-8, and for an integer that a double does not hold.
    static func value(_ row: borrowing Statement, _ index: Int32, as type: AttributeType) -> Value? {
        switch (row.columnType(index), type) {
        case (.null, _): return .null
        case (.integer, .double):
            let integer = row.integer(at: index)
            return Int64(exactly: Double(integer)) == integer ? .real(Double(integer)) : nil
        case (.integer, .string): return .text(String(row.integer(at: index)))
        case (.real, .string): return .text("\(row.real(at: index))")
        case (.integer, .data): return .blob(Data(String(row.integer(at: index)).utf8))
        case (.real, .data): return .blob(Data("\(row.real(at: index))".utf8))
        // SQLite converts the text of a UTF-16 database to UTF-8; `bytes` would return UTF-16.
        case (.text, .data): return .blob(Data(row.text(at: index)))
        case (.blob, _): return .blob(Data(row.blob(at: index)))
        case (.integer, _): return .integer(row.integer(at: index))
        case (.real, _): return .real(row.real(at: index))
        case (.text, _): return String(validating: row.text(at: index), as: UTF8.self).map(Value.text)
        }
    }
}
