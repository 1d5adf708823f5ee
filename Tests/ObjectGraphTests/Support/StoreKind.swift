import Foundation
import ObjectGraph
import SealedStore

/// The stores that the suite runs on.
enum StoreKind: CaseIterable, Sendable {
    case reference, sealed

    func makeStore(model: ManagedObjectModel, description: PersistentStoreDescription) throws -> any IncrementalStore {
        switch self {
        case .reference: ReferenceStore(model: model, description: description)
        case .sealed: try SealedStore(model: model, description: description)
        }
    }

    /// The options that the store needs to open.
    var options: [String: any Sendable] {
        switch self {
        case .reference: [:]
        case .sealed: [SealedStore.keyOption: "correct horse battery staple"]
        }
    }
}
