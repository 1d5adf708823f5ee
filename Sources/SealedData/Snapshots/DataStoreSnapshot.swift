/// The values of a model at one moment, exchanged between contexts and a ``DataStore``.
///
/// A custom snapshot type encodes its properties under the coding keys ``DataStoreSnapshotCodingKey``, because contexts
/// read snapshots by encoding them. A relationship is encoded as the ``PersistentIdentifier`` of its destination, or as
/// an array of the identifiers of its members.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// The identifier of the model.
    var persistentIdentifier: PersistentIdentifier { get }

    /// Makes the snapshot of a model that a context saves.
    ///
    /// - Parameters:
    ///   - backingData: The model's values.
    ///   - relatedBackingDatas: The values of related models. It is empty, and additions have no effect.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// Returns the same values under another identifier, with references to other models replaced.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: The identifier of the copy.
    ///   - remappedIdentifiers: The new identifiers of models, by their identifiers in the snapshot.
    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// A value of a property in a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The keys under which a ``DataStoreSnapshot`` is encoded.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable {
    /// The model's identifier.
    case persistentIdentifier
    /// A property of the model, by its name.
    case modeledProperty(String)

    private static let identifierText = "persistentIdentifier"
    /// The prefix that distinguishes a property named `persistentIdentifier` from the identifier.
    private static let escape = "modeledProperty."

    /// Makes the key for a text. Every text is a valid key.
    public init?(stringValue: String) {
        if stringValue == Self.identifierText {
            self = .persistentIdentifier
        } else if stringValue.hasSuffix(Self.identifierText), stringValue.hasPrefix(Self.escape) {
            self = .modeledProperty(String(stringValue.dropFirst(Self.escape.count)))
        } else {
            self = .modeledProperty(stringValue)
        }
    }

    /// Returns nil, because no key is a number.
    public init?(intValue: Int) { nil }

    /// The name of the property, or `persistentIdentifier`.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierText
        case .modeledProperty(let name): name.hasSuffix(Self.identifierText) ? Self.escape + name : name
        }
    }

    /// Nil, because no key is a number.
    public var intValue: Int? { nil }
}
