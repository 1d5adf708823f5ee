import ObjectGraph

extension Schema {
    /// A property that holds a value.
    ///
    /// `@unchecked Sendable`: the only stored property is a constant of a Sendable type, also in the subclasses, which
    /// only this module can declare.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        struct State {
            var name: String
            var originalName: String?
            var options: [Option]
            var valueType: any Any.Type
            /// The name of `valueType` if the program that decoded the schema does not have the type.
            var valueTypeName: TypeName?
            var storedType: AttributeType?
            var defaultValue: Any?
            var isOptional: Bool
            var hashModifier: String?
        }

        let state: GuardedState<State>

        /// Makes an attribute without a name, for a property of a model class.
        ///
        /// - Parameters:
        ///   - options: Rules for the values.
        ///   - originalName: The name in the previous schema, if the property was renamed.
        ///   - hashModifier: A text whose change marks a new meaning of the property for a migration.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            state = GuardedState(
                State(
                    name: "",
                    originalName: originalName,
                    options: options,
                    valueType: Any.self,
                    isOptional: false,
                    hashModifier: hashModifier
                )
            )
        }

        /// Makes an attribute.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - originalName: The name in the previous schema, if the property was renamed.
        ///   - options: Rules for the values.
        ///   - valueType: The Swift type, which determines how values are stored. An `Optional` makes the attribute
        ///     optional.
        ///   - defaultValue: The value in new objects.
        ///   - hashModifier: A text whose change marks a new meaning of the property for a migration.
        public init(
            name: String,
            originalName: String? = nil,
            options: [Option] = [],
            valueType: any Any.Type,
            defaultValue: Any? = nil,
            hashModifier: String? = nil
        ) {
            state = GuardedState(
                State(
                    name: name,
                    originalName: originalName,
                    options: options,
                    valueType: valueType,
                    storedType: Self.storedType(of: valueType),
                    defaultValue: defaultValue,
                    isOptional: PropertyKind.isOptional(valueType),
                    hashModifier: hashModifier
                )
            )
        }

        init(state: State) { self.state = GuardedState(state) }

        /// Decodes the format of ``encode(to:)``. A type that this program does not have becomes `Any`, and its default
        /// value is lost.
        public required convenience init(from decoder: any Decoder) throws {
            try self.init(state: Self.decodeState(from: decoder))
        }

        /// Encodes the attribute. A default value is omitted if its type is not `Codable`.
        public func encode(to encoder: any Encoder) throws { try encodeState(to: encoder) }

        /// The name.
        public var name: String {
            get { state.name }
            set { state.name = newValue }
        }
        /// The name in the previous schema; the same as ``name`` unless the property was renamed.
        public var originalName: String {
            get { state.originalName ?? state.name }
            set { state.originalName = newValue }
        }
        /// Rules for the values.
        public var options: [Option] {
            get { state.options }
            set { state.options = newValue }
        }
        /// The Swift type of the property; an `Optional` if it may be nil. Setting it sets ``isOptional`` too.
        public var valueType: any Any.Type {
            get { state.valueType }
            set {
                state.valueType = newValue
                state.valueTypeName = nil
                state.storedType = Self.storedType(of: newValue)
                state.isOptional = PropertyKind.isOptional(newValue)
            }
        }
        /// The initial value in new objects; nil if the declaration has none.
        public var defaultValue: Any? {
            get { state.defaultValue }
            set { state.defaultValue = newValue }
        }
        /// Whether values may be nil.
        public var isOptional: Bool {
            get { state.isOptional }
            set { state.isOptional = newValue }
        }
        /// A text whose change marks a new meaning of the property for a migration.
        public var hashModifier: String? {
            get { state.hashModifier }
            set { state.hashModifier = newValue }
        }

        /// True.
        public var isAttribute: Bool { true }
        /// False.
        public var isRelationship: Bool { false }
        /// Whether the attribute has the option ``Option/ephemeral``.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether at most one object has a given value.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether the attribute names a value transformer.
        public var isTransformable: Bool { namedTransformer != nil }
        /// Whether the attribute has the option ``Option/codable``.
        public var isCodable: Bool { options.contains(.codable) }

        /// Whether both have the same name, type and rules. Default values are not compared.
        public static func == (left: Attribute, right: Attribute) -> Bool {
            left === right || left.identity == right.identity
        }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name, the type and the options.
        public var debugDescription: String {
            "Attribute(\(name): \(typeName.qualified)\(options.map { ", \($0)" }.joined()))"
        }

        /// The name of the value type, also if this program does not have the type.
        var typeName: TypeName { state.valueTypeName ?? TypeName(valueType) }

        /// The type as which values are stored; nil if they cannot be stored.
        var storedType: AttributeType? { state.storedType ?? (transformer == nil ? nil : .data) }

        /// The value transformer that makes data of the values; nil if they are stored without one.
        var transformer: _AttributeTransformer? {
            // The option has no effect on types that can be stored.
            state.storedType == nil && PropertyKind(of: state.valueType) == nil ? namedTransformer : nil
        }

        /// The value transformer that the attribute names; nil if it names none.
        var namedTransformer: _AttributeTransformer? { options.lazy.compactMap(\.transformer).first }

        /// The given name in the previous schema; nil if none was given.
        var renamingIdentifier: String? { state.originalName }

        private static func storedType(of valueType: any Any.Type) -> AttributeType? {
            if case .attribute(let type)? = PropertyKind(of: valueType) { type } else { nil }
        }

        private struct Identity: Hashable {
            let name: String
            let originalName: String
            let options: [Option]
            let type: String
            let isOptional: Bool
            let hashModifier: String?
        }

        private var identity: Identity {
            Identity(
                name: name,
                originalName: originalName,
                options: options,
                type: typeName.qualified,
                isOptional: isOptional,
                hashModifier: hashModifier
            )
        }
    }
}

extension Schema.Attribute {
    private enum CodingKeys: String, CodingKey {
        case name, originalName, options, valueType, storedType, defaultValue, isOptional, hashModifier
    }

    static func decodeState(from decoder: any Decoder) throws -> State {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let typeName = try container.decode(TypeName.self, forKey: .valueType)
        let type = typeName.type
        return try State(
            name: container.decode(String.self, forKey: .name),
            originalName: container.decodeIfPresent(String.self, forKey: .originalName),
            options: container.decode([Option].self, forKey: .options),
            valueType: type ?? Any.self,
            valueTypeName: typeName,
            storedType: container.decodeIfPresent(AttributeType.self, forKey: .storedType),
            defaultValue: type.flatMap { decodeDefaultValue(of: $0, from: container) },
            isOptional: container.decode(Bool.self, forKey: .isOptional),
            hashModifier: container.decodeIfPresent(String.self, forKey: .hashModifier)
        )
    }

    /// Decodes the default value; nil if the attribute has none, or it no longer decodes as the type.
    private static func decodeDefaultValue(
        of type: any Any.Type,
        from container: KeyedDecodingContainer<CodingKeys>
    ) -> Any? {
        func decode<V: Decodable>(_ type: V.Type) -> Any? {
            try? container.decodeIfPresent(type, forKey: .defaultValue)
        }
        return (PropertyKind.unwrapped(type) as? any Decodable.Type).flatMap { decode($0) }
    }

    func encodeState(to encoder: any Encoder) throws {
        let state = state.snapshot
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state.name, forKey: .name)
        try container.encodeIfPresent(state.originalName, forKey: .originalName)
        try container.encode(state.options, forKey: .options)
        try container.encode(typeName, forKey: .valueType)
        try container.encodeIfPresent(state.storedType, forKey: .storedType)
        if let value = state.defaultValue as? any Encodable { try container.encode(value, forKey: .defaultValue) }
        try container.encode(state.isOptional, forKey: .isOptional)
        try container.encodeIfPresent(state.hashModifier, forKey: .hashModifier)
    }
}
