import ObjectGraph

/// The storage of a property, which depends only on the type of its values.
///
/// The rules and their order equal the rules of the overloads that read and write a property, which the compiler
/// selects by the same type: models and collections of models, then types that are stored directly, then types whose
/// raw value is stored directly, then all other `Codable` types. Each may be optional.
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

    /// Returns the type of the raw values if they can be stored directly.
    static func storableRawValue<Raw: RawRepresentable>(of type: Raw.Type) -> (any StorableValue.Type)? {
        Raw.RawValue.self as? any StorableValue.Type
    }
}

/// `Optional` of any wrapped type.
private protocol OptionalType {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrappedType: any Any.Type { Wrapped.self }
}
