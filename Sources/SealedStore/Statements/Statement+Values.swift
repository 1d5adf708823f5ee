package import EncryptedSQLite
import Foundation
package import ObjectGraph

// Values of the object graph as parameters and columns of statements.

extension Statement {
    /// Binds values to the parameters from the first on.
    func bind(_ values: [Value], from first: Int32 = 1) throws {
        var index = first
        for value in values {
            try bind(value, at: index)
            index += 1
        }
    }

    /// Binds a value to a parameter.
    package func bind(_ value: Value, at index: Int32) throws {
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let integer): try bind(integer, at: index)
        case .real(let real): try bind(real, at: index)
        case .text(let text): try bind(text: text, at: index)
        case .blob(let data): try data.withUnsafeBytes { try bind(blob: $0, at: index) }
        case .uuid(let uuid): try withUnsafeBytes(of: uuid.uuid) { try bind(blob: $0, at: index) }
        }
    }

    /// Binds a slot of a row without a copy of texts and blobs: the row must exist until the statement has run.
    @inline(__always)
    func bind(_ row: Row, _ slot: Int, at index: Int32) throws {
        switch row.tag(at: slot) {
        case .null: try bindNull(at: index)
        case .integer: try bind(row.integer(at: slot), at: index)
        case .real: try bind(row.real(at: slot), at: index)
        case .text: try row.withBytes(at: slot) { try bind(staticText: $0, at: index) }
        case .blob: try row.withBytes(at: slot) { try bind(staticBlob: $0, at: index) }
        // The object is inserted again. A value that cannot be read must not be written as an empty value.
        case .deferredBlob: try row.readBlob(at: slot).withUnsafeBytes { try bind(blob: $0, at: index) }
        case .omitted: preconditionFailure("a partial row is never saved")
        }
    }

    /// The value of a column of any type in the current row. Text that is not UTF-8 is repaired.
    package func value(at index: Int32) -> Value {
        switch columnType(index) {
        case .integer: .integer(integer(at: index))
        case .real: .real(real(at: index))
        case .text: .text(string(at: index))
        case .blob: .blob(Data(blob(at: index)))
        case .null: .null
        }
    }
}
