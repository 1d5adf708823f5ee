import EncryptedSQLite
import ObjectGraph

/// Finds a record of an exchange that cannot be read, or that contradicts the history.
struct ExchangeCheck {
    let connection: Connection
    let model: ManagedObjectModel

    func problems() throws -> [StoreProblem] {
        do {
            guard let record = try ExchangeRecord.read(on: connection) else { return [] }
            guard let settings = try HistorySettings.read(on: connection), settings.identifiesObjects else {
                return [StoreProblem(.damagedExchange)]
            }
            let last = max(try HistoryTable.lastKey(on: connection), settings.lastDeleted)
            let marks = try ExchangeMarks.read(from: 0, model, settings, on: connection)
            let outstanding = try ExchangeRecord.earlierOutstanding(on: connection) + record.outstanding
            let isValid =
                record.acknowledged <= last && outstanding.allSatisfy { $0.covered <= last }
                && marks.allSatisfy { $0.number <= last }
            return isValid ? [] : [StoreProblem(.damagedExchange)]
        } catch is SealedStoreError {
            return [StoreProblem(.damagedExchange)]
        }
    }
}
