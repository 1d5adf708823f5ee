import EncryptedSQLite
import ObjectGraph

/// Finds transactions of the history that cannot be read.
struct HistoryCheck {
    let connection: Connection
    let model: ManagedObjectModel

    func problems() throws -> [StoreProblem] {
        guard let settings = try HistorySettings.read(on: connection) else { return [] }
        var count = 0
        var first: Int64?
        func note(_ number: Int64) {
            count += 1
            first = first ?? number
        }
        // The number of rows without a transaction so far: they hold its first changes, or a deleted transaction.
        var parts: Int64 = 0
        let sql = #"SELECT "_id", "parts", "timestamp", "changes" FROM "_history" ORDER BY "_id""#
        try connection.withStatement(sql) { statement in
            var last: Int64 = 0
            var walk = KeyWalk(.ascending(after: .min))
            while try statement.step() {
                let number = statement.integer(at: 0)
                try walk.visit(number, of: statement)
                if number != last + 1 { parts = 0 }
                last = number
                if !isReadable(statement.blob(at: 3), number, settings) { note(number) }
                guard !statement.isNull(at: 1) else {
                    parts = statement.isNull(at: 3) ? 0 : parts + 1
                    continue
                }
                if statement.integer(at: 1) != parts || statement.isNull(at: 2) { note(number) }
                parts = 0
            }
        }
        if parts > 0 { note(try HistoryTable.lastKey(on: connection)) }
        return count > 0 ? [StoreProblem(.damagedHistory, count: count, firstKey: first)] : []
    }

    private func isReadable(_ bytes: UnsafeRawBufferPointer, _ row: Int64, _ settings: HistorySettings) -> Bool {
        var decoder = HistoryDecoder(bytes, row: row, model: model, renamings: settings.renamings)
        return (try? decoder.groups()) != nil
    }
}
