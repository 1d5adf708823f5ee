/// What a program declares about an attribute.
public struct AttributeDescription: Codable, Hashable, Sendable {
    /// The name, unique among the entity's properties, inherited ones included.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether the attribute may be without a value.
    public var isOptional: Bool
    /// Whether large values are kept outside the row.
    public var allowsExternalStorage: Bool
    /// The name that the attribute had in an earlier version of the model.
    public var renamingIdentifier: String?

    /// Makes a declaration.
    public init(
        _ name: String,
        _ type: AttributeType,
        isOptional: Bool = false,
        allowsExternalStorage: Bool = false,
        renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.allowsExternalStorage = allowsExternalStorage
        self.renamingIdentifier = renamingIdentifier
    }
}
