import EncryptedSQLite
package import Foundation
import ObjectGraph
import SealedStore

/// Operations on the whole file of a journal, which a process runs and its test kills.
package enum JournalMaintenance: String, CaseIterable, Sendable {
    case backup, compactInto, compact, salvage

    /// Runs the operation on a store.
    ///
    /// - Parameter target: The new file; a compaction in place has none.
    package func run(_ url: URL, to target: URL) throws {
        if self == .salvage {
            let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
            _ = try SealedStore.salvage(url, key: key, to: target)
            return
        }
        let context = try Journal.open(url)
        guard let store = context.coordinator.persistentStores.first as? SealedStore else { return }
        switch self {
        case .backup: try store.backUp(to: target)
        case .compactInto: try store.compact(into: target)
        case .compact: try store.compact()
        case .salvage: break
        }
        try context.coordinator.removeAllStores()
    }
}
