/// The values of a model at one moment, in the form in which it travels between contexts and a ``DataStore``.
///
/// A store that writes a type of its own gives its properties the coding keys ``DataStoreSnapshotCodingKey``: contexts
/// read snapshots by encoding them. A relationship is encoded as the ``PersistentIdentifier`` of its destination, or an
/// array of those of its members.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// The identifier of the model.
    var persistentIdentifier: PersistentIdentifier { get }

    /// Takes the values of a model, when a context saves it.
    ///
    /// - Parameters:
    ///   - backingData: The model's values.
    ///   - relatedBackingDatas: Those of related models; there are none at first, and what is added has no effect.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// The same values under another identifier, with references to other models replaced.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: The identifier of the copy.
    ///   - remappedIdentifiers: New identifiers of models by those that the snapshot knows them under.
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
    /// What keeps a property of that name apart from the identifier.
    private static let escape = "modeledProperty."

    /// The key for a text; every text is one.
    public init?(stringValue: String) {
        if stringValue == Self.identifierText {
            self = .persistentIdentifier
        } else if stringValue.hasSuffix(Self.identifierText), stringValue.hasPrefix(Self.escape) {
            self = .modeledProperty(String(stringValue.dropFirst(Self.escape.count)))
        } else {
            self = .modeledProperty(stringValue)
        }
    }

    /// Nil: no key is a number.
    public init?(intValue: Int) { nil }

    /// The name of the property, or `persistentIdentifier`.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierText
        case .modeledProperty(let name): name.hasSuffix(Self.identifierText) ? Self.escape + name : name
        }
    }

    /// Nil: no key is a number.
    public var intValue: Int? { nil }
}
