extension Schema {
    /// An attribute whose values have parts.
    ///
    /// A schema of model classes describes `Codable` properties by ``Attribute``. Programs make composite attributes
    /// explicitly. Both are stored as JSON text.
    ///
    /// `@unchecked Sendable`: the only stored property is a constant of a `Sendable` type, as in the superclass.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        private let parts: GuardedState<[Attribute]>

        /// The parts.
        public var properties: [Attribute] {
            get { parts.snapshot }
            set { parts[dynamicMember: \.self] = newValue }
        }

        /// Makes an attribute without parts.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - originalName: The name in the previous schema, if the property was renamed.
        ///   - options: Rules for the values.
        ///   - valueType: The Swift type. An `Optional` makes the attribute optional.
        ///   - defaultValue: The value in new objects.
        ///   - hashModifier: A text whose change marks a new meaning of the property for a migration.
        public override init(
            name: String,
            originalName: String? = nil,
            options: [Option] = [],
            valueType: any Any.Type,
            defaultValue: Any? = nil,
            hashModifier: String? = nil
        ) {
            parts = GuardedState([])
            super.init(
                name: name,
                originalName: originalName,
                options: options,
                valueType: valueType,
                defaultValue: defaultValue,
                hashModifier: hashModifier
            )
        }

        private enum CodingKeys: String, CodingKey {
            case properties
        }

        /// Decodes the format of ``encode(to:)``.
        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            parts = try GuardedState(container.decode([Attribute].self, forKey: .properties))
            try super.init(state: Self.decodeState(from: decoder))
        }

        /// Encodes the attribute and its parts.
        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties, forKey: .properties)
        }

        /// Whether both have the same name, type, rules and parts.
        public static func == (left: CompositeAttribute, right: CompositeAttribute) -> Bool {
            left as Attribute == right as Attribute && left.properties == right.properties
        }
    }
}
