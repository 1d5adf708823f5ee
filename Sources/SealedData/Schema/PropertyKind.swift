import ObjectGraph

/// What becomes of a property in the store, decided by the type of its values alone.
///
/// The rules and their order are those of the overloads that read and write a property, which the compiler chooses by
/// the same type: models and collections of models, then types that are stored as they are, then those with a raw value
/// that is, then everything else that is `Codable`. Each may be optional.
enum PropertyKind {
    case attribute(AttributeType)
    case toOne(any PersistentModel.Type)
    case toMany(any PersistentModel.Type)

    /// - Returns: Nil for a type that cannot be stored.
    init?(of valueType: any Any.Type) {
        let type = Self.unwrapped(valueType)
        if let model = type as? any PersistentModel.Type {
            self = .toOne(model)
        } else if let collection = type as? any RelationshipCollection.Type {
            self = .toMany(Self.element(of: collection))
        } else if let storable = type as? any StorableValue.Type {
            self = .attribute(storable.attributeType)
        } else if let raw = type as? any RawRepresentable.Type, let storable = Self.storableRawValue(of: raw) {
            self = .attribute(storable.attributeType)
        } else if type is any (Decodable & Encodable).Type {
            self = .attribute(.composite)
        } else {
            return nil
        }
    }

    /// Whether values of the type may be nil.
    static func isOptional(_ valueType: any Any.Type) -> Bool { valueType is any OptionalType.Type }

    /// The type without its outermost `Optional`.
    static func unwrapped(_ valueType: any Any.Type) -> any Any.Type {
        (valueType as? any OptionalType.Type)?.wrappedType ?? valueType
    }

    private static func element<Collection: RelationshipCollection>(
        of collection: Collection.Type
    ) -> any PersistentModel.Type {
        Collection.PersistentElement.self
    }

    /// The type of the raw values where they are stored as they are.
    static func storableRawValue<Raw: RawRepresentable>(of type: Raw.Type) -> (any StorableValue.Type)? {
        Raw.RawValue.self as? any StorableValue.Type
    }
}

/// `Optional`, recognizable without knowing what it wraps.
private protocol OptionalType {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}
