import CSQLCipher
import Foundation

extension ConstraintViolation {
    /// Parses SQLite's message, and keeps only the names in it.
    ///
    /// The forms are `UNIQUE constraint failed: table.column, table.column`, `UNIQUE constraint failed: index 'name'`,
    /// `NOT NULL constraint failed: table.column`, `CHECK constraint failed: name or expression`, `FOREIGN KEY
    /// constraint failed`, and `cannot store TEXT value in INTEGER column table.column`. The message of a trigger has
    /// no fixed form and is dropped.
    init(extendedCode: Int32, message: String) {
        let kind = Kind(extendedCode: extendedCode)
        var rule: String?
        var names: [String] = []
        switch kind {
        case .unique, .primaryKey, .notNull:
            guard let failed = message.range(of: " constraint failed: ") else { break }
            let subject = message[failed.upperBound...]
            if subject.hasPrefix("index '"), subject.hasSuffix("'") {
                rule = String(subject.dropFirst(7).dropLast())
            } else {
                names = subject.components(separatedBy: ", ")
            }
        case .check:
            if let failed = message.range(of: " constraint failed: ") { rule = String(message[failed.upperBound...]) }
        case .dataType:
            if let column = message.range(of: " column ", options: .backwards) {
                names = [String(message[column.upperBound...])]
            }
        case .foreignKey, .other:
            break
        }
        // Bytes: the point and a combining character behind it are one `Character`.
        let table = names.first.map { String(decoding: $0.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self) }
        self.kind = kind
        self.table = table
        columns = names.map { name in
            guard let table, name.utf8.starts(with: "\(table).".utf8) else { return name }
            return String(decoding: name.utf8.dropFirst(table.utf8.count + 1), as: UTF8.self)
        }
        self.rule = rule
        self.extendedCode = extendedCode
    }
}

extension ConstraintViolation.Kind {
    fileprivate init(extendedCode: Int32) {
        // SQLite's extended codes are macros with shifts, which Swift does not import: the primary code plus n << 8.
        self =
            switch (extendedCode & 0xff, extendedCode >> 8) {
            case (SQLITE_CONSTRAINT, 1): .check
            case (SQLITE_CONSTRAINT, 3): .foreignKey
            case (SQLITE_CONSTRAINT, 5): .notNull
            case (SQLITE_CONSTRAINT, 6), (SQLITE_CONSTRAINT, 10): .primaryKey
            case (SQLITE_CONSTRAINT, 8): .unique
            case (SQLITE_CONSTRAINT, 12): .dataType
            default: .other
            }
    }
}
