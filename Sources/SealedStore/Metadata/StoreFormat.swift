import EncryptedSQLite
import ObjectGraph

/// The number of a file's format: the `user_version` of the file, and the row `format` of `_metadata`.
///
/// A program reads the number before everything else in the file, and refuses a file whose number it does not know with
/// `DatabaseError.newerFormat`. Without a larger number, an older program would report the unknown content as damage, and
/// advise to restore a backup, or would not maintain the content.
///
/// The number therefore rises with everything that an older program cannot read or maintain: a table of the store, another
/// form of stored values, a column type. It rises only in the files that have the new content, so that older programs
/// still open all other files, and it never falls. What an older program ignores without harm, such as a further row of
/// `_metadata`, needs no number.
///
/// | number | content |
/// |---|---|
/// | 1 | every store |
/// | 2 | the table of large values, see ``LargeValueTable`` |
/// | 3 | an attribute of type `duration` |
enum StoreFormat {
    /// The number of files without any of the later content.
    static let first = 1
    /// The number of files with a ``LargeValueTable``.
    static let largeValues = 2

    /// The largest number that this version reads and writes.
    static let newest = AttributeType.allCases.map { number(of: $0) }.reduce(max(first, largeValues), max)

    /// The smallest number of a file with columns of a type.
    static func number(of type: AttributeType) -> Int {
        switch type {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .bool, .float, .double, .decimal,
            .string,
            .date, .uuid, .url, .data, .composite:
            first
        case .duration: 3
        }
    }

    /// The smallest number of a file with the tables of a model.
    static func number(of model: ManagedObjectModel) -> Int {
        var largest = first
        for entity in model.entities {
            for case .attribute(let attribute) in entity.properties {
                largest = max(largest, number(of: attribute.type))
            }
        }
        return largest
    }

    /// The number in the header of a file.
    static func userVersion(on connection: Connection) throws -> Int {
        try connection.withStatement("PRAGMA user_version") { try $0.step() ? Int($0.integer(at: 0)) : 0 }
    }

    /// Raises the number of a file to a number, unless the number is larger already.
    static func raise(to number: Int, on connection: Connection) throws {
        let rows = MetadataRows(connection: connection)
        let current = try rows.all()[StoreMetadataTable.formatKey].flatMap { Int($0) } ?? first
        if number > current { try write(number, on: connection) }
    }

    /// Writes the number of a file.
    static func write(_ number: Int, on connection: Connection) throws {
        try connection.execute("PRAGMA user_version = \(number)")
        try MetadataRows(connection: connection).set(StoreMetadataTable.formatKey, String(number))
    }
}
