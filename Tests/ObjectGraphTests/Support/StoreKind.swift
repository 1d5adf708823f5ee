import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport

/// The stores that the suite runs on.
enum StoreKind: CaseIterable, Sendable {
    case reference, sealed

    func openStore(
        _ description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> any IncrementalStore {
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
