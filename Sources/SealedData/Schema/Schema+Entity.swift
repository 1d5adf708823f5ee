import ObjectGraph

extension Schema {
    /// A model class in a schema: its properties and the rules over them.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible, Sendable {
        struct State {
            var name: String
            var subentities: Set<Entity> = []
            var superentityName: String?
            weak var superentity: Entity?
            var storedProperties: [any SchemaProperty] = []
            var inheritedProperties: [any SchemaProperty] = []
            var uniquenessConstraints: [[String]] = []
            var indexes: [FetchIndexDescription] = []
            var modelType: (any PersistentModel.Type)?
        }

        let state: GuardedState<State>

        /// Makes an entity without properties.
        public init(_ name: String) {
            state = GuardedState(State(name: name))
        }

        /// Makes an entity that others inherit from.
        public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.init(name)
            state.subentities = Set(subentities)
            storedProperties = properties
            for subentity in subentities {
                subentity.superentity = self
                subentity.inheritedProperties = self.properties
            }
        }

        /// Makes an entity.
        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name)
            storedProperties = properties
        }

        init(state: State) { self.state = GuardedState(state) }

        /// The name: that of the class, without its module and the types around it.
        public var name: String {
            get { state.name }
            set { state.name = newValue }
        }
        /// The entities that inherit from this one directly.
        public var subentities: Set<Entity> {
            get { state.subentities }
            set { state.subentities = newValue }
        }
        /// The name of the entity that this one inherits from.
        public var superentityName: String? {
            get { state.superentityName }
            set { state.superentityName = newValue }
        }
        /// The entity that this one inherits from, which is not kept alive. Setting it sets ``superentityName`` too.
        public var superentity: Entity? {
            get { state.superentity }
            set {
                state.superentity = newValue
                state.superentityName = newValue?.name
            }
        }
        /// The properties that the entity itself declares, in the order of their declaration. An ``Index`` or ``Unique``
        /// that is set among them goes to ``indices`` or ``uniquenessConstraints``.
        public var storedProperties: [any SchemaProperty] {
            get { state.storedProperties }
            set {
                state.storedProperties = newValue.filter { !($0 is any ModelRule) }
                for case let rule as any ModelRule in newValue { add(rule) }
            }
        }
        /// The properties of the entities that this one inherits from, topmost first.
        public var inheritedProperties: [any SchemaProperty] {
            get { state.inheritedProperties }
            set { state.inheritedProperties = newValue }
        }
        /// All properties, inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

        /// The attributes, inherited ones included.
        public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
        /// The relationships, inherited ones included.
        public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
        /// The attributes by name, inherited ones included.
        public var attributesByName: [String: Attribute] {
            Self.byName(properties.compactMap { $0 as? Attribute })
        }
        /// The relationships by name, inherited ones included.
        public var relationshipsByName: [String: Relationship] {
            Self.byName(properties.compactMap { $0 as? Relationship })
        }
        /// The properties that the entity itself declares, by name.
        public var storedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        /// The properties of the entities that this one inherits from, by name.
        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        /// Lists of property names whose values together at most one object has. Those of single properties with the
        /// option `unique` are among them.
        public var uniquenessConstraints: [[String]] {
            get { state.uniquenessConstraints }
            set { state.uniquenessConstraints = newValue }
        }
        /// Lists of property names that the store builds an index over. Setting it makes all of them B-trees.
        public var indices: [[String]] {
            get { state.indexes.map(\.properties) }
            set { state.indexes = newValue.map { FetchIndexDescription($0) } }
        }

        private func add(_ rule: any ModelRule) {
            func names(_ keyPaths: [AnyKeyPath]) -> [String] {
                // A container reports a name that no property has.
                keyPaths.map { PropertyLookup.name(of: $0, in: rule.modelType) ?? "\($0)" }
            }
            for keyPaths in (rule as? any UniqueRule)?.rules ?? [] {
                let constraint = names(keyPaths)
                if !uniquenessConstraints.contains(constraint) { state.uniquenessConstraints.append(constraint) }
            }
            for (kind, keyPaths) in (rule as? any IndexRule)?.rules ?? [] {
                let index = FetchIndexDescription(names(keyPaths), kind: kind)
                if !state.indexes.contains(index) { state.indexes.append(index) }
            }
        }

        /// The model class; nil in a schema that was made without classes.
        var modelType: (any PersistentModel.Type)? { state.modelType }

        /// Whether both have the same name, superentity, properties and rules.
        public static func == (left: Entity, right: Entity) -> Bool {
            guard left !== right else { return true }
            return left.name == right.name && left.superentityName == right.superentityName
                && left.uniquenessConstraints == right.uniquenessConstraints
                && left.state.indexes == right.state.indexes
                && left.storedProperties.map { AnyHashable($0) } == right.storedProperties.map { AnyHashable($0) }
        }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// Name and properties, one a line.
        public var debugDescription: String {
            let title = superentityName.map { "Entity(\(name): \($0))" } ?? "Entity(\(name))"
            return ([title] + storedProperties.map { "  \($0)" }).joined(separator: "\n")
        }

        private static func byName<Property: SchemaProperty>(_ properties: [Property]) -> [String: Property] {
            Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        private enum CodingKeys: String, CodingKey {
            case name, superentityName, properties, uniquenessConstraints, indices, modelType
        }

        /// Reads what ``encode(to:)`` writes. The schema that the entity belongs to restores the links between entities.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let typeName = try container.decodeIfPresent(TypeName.self, forKey: .modelType)
            state = try GuardedState(
                State(
                    name: container.decode(String.self, forKey: .name),
                    superentityName: container.decodeIfPresent(String.self, forKey: .superentityName),
                    storedProperties: container.decode([EncodedProperty].self, forKey: .properties).map(\.property),
                    uniquenessConstraints: container.decode([[String]].self, forKey: .uniquenessConstraints),
                    indexes: container.decode([FetchIndexDescription].self, forKey: .indices),
                    modelType: typeName?.type as? any PersistentModel.Type
                )
            )
        }

        /// Writes what the entity itself declares.
        public func encode(to encoder: any Encoder) throws {
            let state = state.snapshot
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(state.name, forKey: .name)
            try container.encodeIfPresent(state.superentityName, forKey: .superentityName)
            try container.encode(state.storedProperties.compactMap(EncodedProperty.init), forKey: .properties)
            try container.encode(state.uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(state.indexes, forKey: .indices)
            try container.encodeIfPresent(state.modelType.map { TypeName($0) }, forKey: .modelType)
        }
    }
}

/// A property with its kind, which tells a decoder what to decode.
private enum EncodedProperty: Codable {
    case attribute(Schema.Attribute)
    case composite(Schema.CompositeAttribute)
    case relationship(Schema.Relationship)

    /// - Returns: Nil for a property of a kind that this module does not know.
    init?(_ property: any SchemaProperty) {
        switch property {
        case let composite as Schema.CompositeAttribute: self = .composite(composite)
        case let attribute as Schema.Attribute: self = .attribute(attribute)
        case let relationship as Schema.Relationship: self = .relationship(relationship)
        default: return nil
        }
    }

    var property: any SchemaProperty {
        switch self {
        case .attribute(let attribute): attribute
        case .composite(let composite): composite
        case .relationship(let relationship): relationship
        }
    }
}
