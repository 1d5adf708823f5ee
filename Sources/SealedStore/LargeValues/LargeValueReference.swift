import EncryptedSQLite
import Foundation

/// The place of a large value in the table ``LargeValueTable``, which the row of its object holds instead of the value.
///
/// A reference is a blob of 16 bytes: a constant, and the key of the value. A value of an object that has this form is
/// itself stored in the table, so that each blob of this form in a file with the table is a reference.
struct LargeValueReference: Hashable {
    /// The number of bytes.
    static let size = 16
    /// The first 8 bytes.
    private static let mark: [UInt8] = [0xF5, 0x53, 0x4C, 0x56, 0x8E, 0x1D, 0xA7, 0xC2]

    /// The key of the value.
    let key: Int64

    init(key: Int64) {
        self.key = key
    }

    /// Reads a reference; nil for other bytes.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        self.init(ofSize: bytes)
    }

    @inline(never)
    private init?(ofSize bytes: UnsafeRawBufferPointer) {
        guard bytes.prefix(Self.mark.count).elementsEqual(Self.mark) else { return nil }
        key = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: Self.mark.count, as: Int64.self))
    }

    /// The bytes.
    var data: Data {
        withUnsafeBytes(of: key.bigEndian) { Data(Self.mark + $0) }
    }

    // MARK: SQL

    /// Returns the key of the value to which a blob refers; NULL for other values.
    static let function = ScalarFunction(functionName, argumentCount: 1) { call in
        guard call.type(at: 0) == .blob else { return }
        if let reference = call.withBlob(at: 0, { LargeValueReference($0) }) { call.set(reference.key) }
    }

    private static let functionName = "large_value_key"

    /// The expression for the key of the value to which a column refers; NULL for other values.
    static func key(of column: String) -> String { "\(functionName)(\(column))" }

    /// The condition that a column may hold a reference, which SQLite finds without reading the value.
    static func mayBe(_ column: String) -> String { "length(\(column)) = \(size)" }

    /// The condition that a column refers to a value that does not exist.
    static func isLost(_ column: String) -> String {
        """
        (\(mayBe(column)) AND \(key(of: column)) IS NOT NULL AND NOT EXISTS \
        (SELECT 1 FROM \(LargeValueTable.quotedName) WHERE "_id" = \(key(of: column))))
        """
    }

    /// The expression for the value of a column that may hold a reference.
    static func value(of column: String) -> String {
        """
        CASE WHEN \(mayBe(column)) THEN coalesce((SELECT "value" FROM \(LargeValueTable.quotedName) \
        WHERE "_id" = \(key(of: column))), \(column)) ELSE \(column) END
        """
    }
}
