import Foundation
import ObjectGraph

/// The stores that the suite runs on.
enum StoreKind: CaseIterable, Sendable {
    case reference

    func makeStore(model: ManagedObjectModel, description: PersistentStoreDescription) throws -> any IncrementalStore {
        switch self {
        case .reference: ReferenceStore(model: model, description: description)
        }
    }
}

extension StoreKind {
    /// What the store needs to open.
    var options: [String: any Sendable] {
        switch self {
        case .reference: [:]
        }
    }
}
