import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport

/// A store with all capabilities that both stores of the suite have.
typealias FullStore = AggregateStore & SearchStore & QueryPlanStore & BatchStore & ErasableStore & SnapshotStore
    & TwoPhaseStore

/// The stores that the suite runs on.
enum StoreKind: CaseIterable, Sendable {
    case reference, sealed

    func openStore(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> any FullStore {
        switch self {
        case .reference: try ReferenceStore.loadMetadata(of: description, for: model)
        case .sealed: try SealedStore.loadMetadata(of: description, for: model)
        }
    }

    /// The options that the store needs to open.
    var options: [String: any Sendable] {
        switch self {
        case .reference: [:]
        case .sealed: [SealedStore.keyOption: EncryptionKey.ofTests]
        }
    }
}
