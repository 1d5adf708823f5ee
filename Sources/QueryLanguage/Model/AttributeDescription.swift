/// The declaration of an attribute.
public struct AttributeDescription: Codable, Hashable, Sendable {
    /// The name, unique among the entity's properties, including inherited ones.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether the attribute may be null.
    public var isOptional: Bool
    /// Whether large values are stored outside the row.
    public var allowsExternalStorage: Bool
    /// The name that the attribute had in an earlier version of the model.
    public var renamingIdentifier: String?
    /// The rules for the values, which every save checks. A store does not contain them: changing them requires no
    /// migration.
    public var validation: AttributeValidation
    /// The value, in its stored form, that a migration writes into existing rows without a value; nil for no value.
    ///
    /// It applies to an attribute that is new, or no longer optional. A store does not contain it.
    public var defaultValue: Value?
    /// Whether the history of a store keeps the last value of a deleted object. A store does not contain it.
    public var preservesValueOnDeletion: Bool

    // Without the validation, the default value and the rule for the history.
    private enum CodingKeys: String, CodingKey {
        case name, type, isOptional, allowsExternalStorage, renamingIdentifier
    }

    /// Decodes a declaration without validation. Missing values are false.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decode(AttributeType.self, forKey: .type)
        isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional) ?? false
        allowsExternalStorage = try container.decodeIfPresent(Bool.self, forKey: .allowsExternalStorage) ?? false
        renamingIdentifier = try container.decodeIfPresent(String.self, forKey: .renamingIdentifier)
        validation = AttributeValidation()
        defaultValue = nil
        preservesValueOnDeletion = false
    }

    /// Encodes the declaration without the values that are false.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(type, forKey: .type)
        if isOptional { try container.encode(isOptional, forKey: .isOptional) }
        if allowsExternalStorage { try container.encode(allowsExternalStorage, forKey: .allowsExternalStorage) }
        try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    }

    /// Creates a declaration.
    public init(
        _ name: String,
        _ type: AttributeType,
        isOptional: Bool = false,
        allowsExternalStorage: Bool = false,
        renamingIdentifier: String? = nil,
        validation: AttributeValidation = AttributeValidation(),
        defaultValue: Value? = nil,
        preservesValueOnDeletion: Bool = false
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.allowsExternalStorage = allowsExternalStorage
        self.renamingIdentifier = renamingIdentifier
        self.validation = validation
        self.defaultValue = defaultValue
        self.preservesValueOnDeletion = preservesValueOnDeletion
    }
}
