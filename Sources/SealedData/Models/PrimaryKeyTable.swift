import Foundation
import Guarded
import ObjectGraph

/// The numeric keys of a ``DataStore``'s models in contexts. The store's primary keys may be of any type.
///
/// A number is assigned when an identifier first occurs, and is valid only in the running process. All containers that
/// open stores with the same identity share the table.
final class PrimaryKeyTable: Sendable {
    /// The identity of the store in the object graph. The UUID version 8 distinguishes it from encrypted stores.
    let storeUUID: UUID
    private let state = Guarded(State())

    private struct State {
        var keys: [Reference: Int64] = [:]
        /// The identifier of each number, at index number − 1; nil for a new object that is not saved yet.
        var identifiers: [PersistentIdentifier?] = []
        /// The store identifiers in the identifiers: more than one if a store returns identifiers of another store.
        var storeIdentifiers: Set<String> = []
    }

    /// The key that identifies a model in a store. Entities are represented by their root entities.
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

    /// Returns the table of the store with an identity.
    static func table(forStore storeIdentifier: String) -> PrimaryKeyTable {
        tables.withLock { tables in
            if let known = tables.byStoreIdentifier[storeIdentifier] { return known }
            let table = PrimaryKeyTable()
            tables.byStoreIdentifier[storeIdentifier] = table
            tables.byUUID[table.storeUUID] = table
            return table
        }
    }

    /// Returns the table of a store by its UUID in the object graph; nil, without a lookup, for an encrypted store.
    static func table(forStoreUUID uuid: UUID?) -> PrimaryKeyTable? {
        guard let uuid, uuid.uuid.6 & 0xF0 == 0x80 else { return nil }
        return tables.withLock { $0.byUUID[uuid] }
    }

    /// Returns the table that contains the identifier of a saved model; nil if its store is encrypted.
    static func table(of identifier: PersistentIdentifier) -> PrimaryKeyTable? {
        identifier.storeIdentifier.flatMap { storeIdentifier in
            tables.withLock { $0.byStoreIdentifier[storeIdentifier] }
        }
    }

    // MARK: Numbers

    /// Returns the number of an identifier. Assigns a number if the identifier has none.
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

    /// Returns numbers for new objects.
    func newKeys(_ count: Int) -> Range<Int64> {
        state.withLock { state in
            let first = Int64(state.identifiers.count) + 1
            state.identifiers += Array(repeating: nil, count: count)
            return first..<first + Int64(count)
        }
    }

    /// Records the identifier that a store assigned to the object with a number.
    func assign(_ identifier: PersistentIdentifier, to key: Int64, in entity: Entity) {
        let reference = reference(of: identifier, in: entity)
        findThrough(identifier)
        state.withLock { state in
            guard state.identifiers.indices.contains(Int(key) - 1) else { return }
            state.keys[reference] = key
            state.identifiers[Int(key) - 1] = identifier
        }
    }

    /// Returns the identifier of a number; nil if the object is not saved.
    func identifier(for key: Int64) -> PersistentIdentifier? {
        state.withLock { state in
            let position = Int(key) - 1
            return state.identifiers.indices.contains(position) ? state.identifiers[position] : nil
        }
    }

    /// Registers the table under the store identifier of an identifier.
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
    /// The root entity.
    var root: Entity { superentity?.root ?? self }
}
