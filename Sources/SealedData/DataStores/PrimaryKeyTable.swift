import Foundation
import Guarded
import ObjectGraph

/// The numbers under which contexts know the models of a ``DataStore``, whose own primary keys may be of any type.
///
/// A number is given out when an identifier is first seen, means the same for as long as the process runs, and nothing
/// outside it. All containers that open a store of an identity share its table.
final class PrimaryKeyTable: Sendable {
    /// The identity that the store has in the object graph. Its version, 8, tells it from those of encrypted stores.
    let storeUUID: UUID
    private let state = Guarded(State())

    private struct State {
        var keys: [Reference: Int64] = [:]
        /// The identifier of each number, at its position less 1; nil for a new object that is not saved yet.
        var identifiers: [PersistentIdentifier?] = []
        /// The store identifiers that the identifiers have: more than one where a store hands on those of another.
        var storeIdentifiers: Set<String> = []
    }

    /// What tells a model from all others of a store: entities count by the top of their inheritance.
    private struct Reference: Hashable {
        let rootName: String
        let storeIdentifier: String?
        let key: PersistentIdentifier.Key
    }

    private static let tables = Guarded(Tables())

    private struct Tables {
        var byUUID: [UUID: PrimaryKeyTable] = [:]
        var byStoreIdentifier: [String: PrimaryKeyTable] = [:]
    }

    private init() {
        var bytes = UUID().uuid
        bytes.6 = bytes.6 & 0x0F | 0x80
        storeUUID = UUID(uuid: bytes)
    }

    /// The table of the store with an identity.
    static func table(forStore storeIdentifier: String) -> PrimaryKeyTable {
        tables.withLock { tables in
            if let known = tables.byStoreIdentifier[storeIdentifier] { return known }
            let table = PrimaryKeyTable()
            tables.byStoreIdentifier[storeIdentifier] = table
            tables.byUUID[table.storeUUID] = table
            return table
        }
    }

    /// The table of a store as the object graph knows it; nil for an encrypted store, without a look.
    static func table(forStoreUUID uuid: UUID?) -> PrimaryKeyTable? {
        guard let uuid, uuid.uuid.6 & 0xF0 == 0x80 else { return nil }
        return tables.withLock { $0.byUUID[uuid] }
    }

    /// The table that an identifier of a saved model is in; nil for one of an encrypted store.
    static func table(of identifier: PersistentIdentifier) -> PrimaryKeyTable? {
        identifier.storeIdentifier.flatMap { storeIdentifier in
            tables.withLock { $0.byStoreIdentifier[storeIdentifier] }
        }
    }

    // MARK: Numbers

    /// The number of an identifier, given out where it has none yet.
    func key(for identifier: PersistentIdentifier, in entity: Entity) -> Int64 {
        let reference = reference(of: identifier, in: entity)
        findThrough(identifier)
        return state.withLock { state in
            if let known = state.keys[reference] { return known }
            state.identifiers.append(identifier)
            let key = Int64(state.identifiers.count)
            state.keys[reference] = key
            return key
        }
    }

    /// Numbers for new objects.
    func newKeys(_ count: Int) -> Range<Int64> {
        state.withLock { state in
            let first = Int64(state.identifiers.count) + 1
            state.identifiers += Array(repeating: nil, count: count)
            return first..<first + Int64(count)
        }
    }

    /// Notes which identifier a store gave to the object of a number.
    func assign(_ identifier: PersistentIdentifier, to key: Int64, in entity: Entity) {
        let reference = reference(of: identifier, in: entity)
        findThrough(identifier)
        state.withLock { state in
            guard state.identifiers.indices.contains(Int(key) - 1) else { return }
            state.keys[reference] = key
            state.identifiers[Int(key) - 1] = identifier
        }
    }

    /// The identifier of a number; nil where the object is not saved.
    func identifier(for key: Int64) -> PersistentIdentifier? {
        state.withLock { state in
            let position = Int(key) - 1
            return state.identifiers.indices.contains(position) ? state.identifiers[position] : nil
        }
    }

    /// Sees to it that the table is found by the store identifier of an identifier.
    private func findThrough(_ identifier: PersistentIdentifier) {
        guard let storeIdentifier = identifier.storeIdentifier,
            state.withLock({ $0.storeIdentifiers.insert(storeIdentifier).inserted })
        else { return }
        Self.tables.withLock { tables in
            if tables.byStoreIdentifier[storeIdentifier] == nil { tables.byStoreIdentifier[storeIdentifier] = self }
        }
    }

    private func reference(of identifier: PersistentIdentifier, in entity: Entity) -> Reference {
        Reference(rootName: entity.root.name, storeIdentifier: identifier.storeIdentifier, key: identifier.key)
    }
}

extension Entity {
    /// The top of the inheritance.
    var root: Entity { superentity?.root ?? self }
}
