public import Foundation
import Synchronization

/// The identity of an object: its entity, its store and its primary key.
///
/// A new object has a temporary identifier, which the save that inserts it replaces by a permanent one. Permanent
/// identifiers are never reused, not even after the object is deleted.
public struct ManagedObjectID: PredicateObject, Sendable {
    /// The entity. For an object that was never read it may be a superentity of the object's entity.
    public let entity: Entity
    /// The UUID of the store; nil in a temporary identifier.
    public let storeUUID: UUID?
    /// The primary key; negative in a temporary identifier.
    public let key: Int64

    /// Creates an identifier.
    public init(entity: Entity, storeUUID: UUID?, key: Int64) {
        self.entity = entity
        self.storeUUID = storeUUID
        self.key = key
    }

    /// Whether the object has not been saved yet.
    public var isTemporary: Bool { key < 0 }

    /// `sealeddata://STORE/ENTITY/pKEY`, and for a temporary identifier `sealeddata:///ENTITY/tNUMBER`.
    public var uriRepresentation: URL {
        var components = URLComponents()
        components.scheme = "sealeddata"
        components.host = storeUUID?.uuidString ?? ""
        let number = isTemporary ? "t\(key.magnitude)" : "p\(key)"
        components.percentEncodedPath = "/\(Self.pathComponent(entity.name))/\(number)"
        return components.url!
    }

    /// A name in which all characters except letters and digits are percent-encoded.
    private static func pathComponent(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension ManagedObjectID: Hashable {
    /// Whether both identify the same object. Only the root entities are compared.
    public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
        left.key == right.key && left.storeUUID == right.storeUUID && left.rootName == right.rootName
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    private var rootName: String {
        var root = entity
        while let superentity = root.superentity { root = superentity }
        return root.name
    }
}

/// Assigns the keys of temporary identifiers: -1, -2, … without repetition in the process.
enum TemporaryKeys {
    static func next() -> Int64 { -counter.wrappingAdd(1, ordering: .relaxed).newValue }

    private static let counter = Atomic<Int64>(0)
}
