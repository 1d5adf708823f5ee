import EncryptedSQLite
import Foundation

/// The content of the schema of a file. Equal contents are equal schemas.
struct SchemaText: Hashable {
    private let bytes: ReadBytes

    // As expressions: SQLite looks up the origin of plain columns, which takes a fifth of the compilation.
    static let sql = "SELECT +type, +name, +tbl_name, +sql FROM sqlite_schema"

    /// The statements that create the tables which every store has, in UTF-8.
    private static let own = SchemaStatements.own.map { Array($0.utf8) }

    /// Reads the schema of a connection's file.
    ///
    /// - Throws: ``SealedStoreError/notAStore`` if the file has no table `_metadata`;
    ///   ``SealedStoreError/foreignSchema(object:)`` if the tables that are read before the comparison of the whole
    ///   schema are not those of a store.
    init(on connection: Connection) throws {
        var bytes = ReadBytes()
        var isFound = Array(repeating: false, count: Self.own.count)
        var hasMetadata = false
        try connection.withUncachedStatement(Self.sql) { row in
            while try row.step() {
                for column: Int32 in 0..<4 { bytes.append(row.text(at: column)) }
                guard isFound.contains(false) else { continue }
                if row.text(at: 1).elementsEqual("_metadata".utf8) { hasMetadata = true }
                let statement = row.text(at: 3)
                for index in isFound.indices where Self.own[index].withUnsafeBytes({ $0.isEqual(to: statement) }) {
                    isFound[index] = true
                }
            }
        }
        guard let missing = isFound.firstIndex(of: false) else {
            self.bytes = bytes
            return
        }
        guard hasMetadata else { throw SealedStoreError.notAStore }
        throw SealedStoreError.foreignSchema(object: SQL.nameOfObject(madeBy: SchemaStatements.own[missing]))
    }
}

/// Texts that were read from a file, in their order.
///
/// They are compared, not hashed: a process knows the contents of few files, and a hash of all bytes takes longer.
struct ReadBytes: Hashable {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(4096) }

    /// Adds a text, with its length.
    mutating func append(_ text: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: text.count) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text)
    }

    static func == (left: ReadBytes, right: ReadBytes) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.isEqual(to: $0) } }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes.count) }
}

extension UnsafeRawBufferPointer {
    /// Whether two memory regions have the same bytes.
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return count == 0 }
        return memcmp(start, otherStart, count) == 0
    }
}
