import EncryptedSQLite
import ObjectGraph

/// Whether the values of a binary column carry the mark of Core Data's external storage.
///
/// Core Data marks every value of an attribute with that option: by the byte 1 before the content, or by the byte 2
/// before the name of a file. The tables do not say which attributes have the option, and the option of the target's
/// model may differ: an encrypted store needs no files beside it. So the values decide, once for each column.
enum ExternalStorage {
    /// No value carries a mark.
    case unused
    /// All values carry a mark.
    case used
    /// Some values carry the name of a file, and other values no mark: whether a byte 1 or 2 at the beginning of a
    /// value is a mark is not known.
    case contradictory

    /// Examines the values of a column.
    ///
    /// - Returns: The finding, and whether it is a guess: all values begin with the byte 1, and neither the name of a
    ///   file nor the attribute shows that it is a mark.
    static func examine(
        _ column: DatabaseName,
        of table: DatabaseName,
        for attribute: Attribute,
        _ connection: Connection
    ) throws -> (storage: ExternalStorage, isGuessed: Bool) {
        let mark = "substr(\(column.quoted), 1, 1)"
        let isFileName = """
            \(mark) = x'02' AND length(\(column.quoted)) = 38 AND substr(\(column.quoted), 38) = x'00' \
            AND CAST(substr(\(column.quoted), 2, 36) AS TEXT) LIKE '________-____-____-____-____________'
            """
        let sql = """
            SELECT count(*), count(*) FILTER (WHERE \(mark) IN (x'01', x'02')), \
            count(*) FILTER (WHERE \(isFileName)) FROM main.\(table.quoted) WHERE typeof(\(column.quoted)) = 'blob'
            """
        return try connection.withUncachedStatement(sql) { row in
            guard try row.step() else { return (.unused, false) }
            let (count, marked, fileNames) = (row.integer(at: 0), row.integer(at: 1), row.integer(at: 2))
            let isExpected = attribute.description.allowsExternalStorage
            if marked == count, isExpected || fileNames > 0 { return (.used, false) }
            if fileNames > 0 { return (.contradictory, false) }
            return (.unused, !isExpected && count > 0 && marked == count)
        }
    }
}
