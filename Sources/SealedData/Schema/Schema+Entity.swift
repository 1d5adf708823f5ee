import ObjectGraph

extension Schema {
    /// A model class in a schema: its properties, indexes and constraints.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible, Sendable {
        struct State {
            var name: String
            var originalName: String?
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

        /// Makes an entity with subentities.
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

        /// The name: the name of the class, without its module and enclosing types.
        public var name: String {
            get { state.name }
            set { state.name = newValue }
        }
        /// The name in the previous schema; the same as ``name`` unless the class was renamed.
        ///
        /// A migration gives the entity the objects of the entity with that name. ``Model(originalName:)`` sets it.
        public var originalName: String {
            get { state.originalName ?? state.name }
            set { state.originalName = newValue }
        }
        /// The direct subentities.
        public var subentities: Set<Entity> {
            get { state.subentities }
            set { state.subentities = newValue }
        }
        /// The name of the superentity.
        public var superentityName: String? {
            get { state.superentityName }
            set { state.superentityName = newValue }
        }
        /// The superentity, which is not retained. Setting it sets ``superentityName`` too.
        public var superentity: Entity? {
            get { state.superentity }
            set {
                state.superentity = newValue
                state.superentityName = newValue?.name
            }
        }
        /// The properties that the entity declares, in order of declaration. The setter moves an ``Index`` or
        /// ``Unique`` among them to ``indices`` or ``uniquenessConstraints``, and the name in the previous schema to
        /// ``originalName``.
        public var storedProperties: [any SchemaProperty] {
            get { state.storedProperties }
            set {
                state.storedProperties = newValue.filter { !($0 is any ModelRule) }
                for case let rule as any ModelRule in newValue { add(rule) }
            }
        }
        /// The properties of the superentities, topmost first.
        public var inheritedProperties: [any SchemaProperty] {
            get { state.inheritedProperties }
            set { state.inheritedProperties = newValue }
        }
        /// All properties, inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

        /// The attributes, including inherited ones.
        public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
        /// The relationships, including inherited ones.
        public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
        /// The attributes by name, including inherited ones.
        public var attributesByName: [String: Attribute] {
            Self.byName(properties.compactMap { $0 as? Attribute })
        }
        /// The relationships by name, including inherited ones.
        public var relationshipsByName: [String: Relationship] {
            Self.byName(properties.compactMap { $0 as? Relationship })
        }
        /// The properties that the entity declares, by name.
        public var storedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        /// The properties of the superentities by name.
        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        /// Lists of property names whose combined values are unique. They include the single properties with the option
        /// `unique`.
        public var uniquenessConstraints: [[String]] {
            get { state.uniquenessConstraints }
            set { state.uniquenessConstraints = newValue }
        }
        /// Lists of property names with an index in the store. Setting it makes all of them B-trees.
        public var indices: [[String]] {
            get { state.indexes.map(\.properties) }
            set { state.indexes = newValue.map { FetchIndexDescription($0) } }
        }

        private func add(_ rule: any ModelRule) {
            func names(_ keyPaths: [AnyKeyPath]) -> [String] {
                // A container reports unknown names.
                keyPaths.map { PropertyLookup.name(of: $0, in: rule.modelType) ?? "\($0)" }
            }
            for keyPaths in (rule as? any UniqueRule)?.rules ?? [] {
                let constraint = names(keyPaths)
                if !uniquenessConstraints.contains(constraint) { state.uniquenessConstraints.append(constraint) }
            }
            if let rule = rule as? any RenamingRule { originalName = rule.originalName }
            for (kind, keyPaths) in (rule as? any IndexRule)?.rules ?? [] {
                let index = FetchIndexDescription(names(keyPaths), kind: kind)
                if !state.indexes.contains(index) { state.indexes.append(index) }
            }
        }

        /// The name in the previous schema; nil if the declaration has none.
        var renamingIdentifier: String? { state.originalName }

        /// The model class; nil in a schema without classes.
        var modelType: (any PersistentModel.Type)? { state.modelType }

        /// Whether both have the same names, superentity, properties and rules.
        public static func == (left: Entity, right: Entity) -> Bool {
            guard left !== right else { return true }
            return left.name == right.name && left.originalName == right.originalName
                && left.superentityName == right.superentityName
                && left.uniquenessConstraints == right.uniquenessConstraints
                && left.state.indexes == right.state.indexes
                && left.storedProperties.map { AnyHashable($0) } == right.storedProperties.map { AnyHashable($0) }
        }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name and the properties, one on each line.
        public var debugDescription: String {
            let title = superentityName.map { "Entity(\(name): \($0))" } ?? "Entity(\(name))"
            return ([title] + storedProperties.map { "  \($0)" }).joined(separator: "\n")
        }

        private static func byName<Property: SchemaProperty>(_ properties: [Property]) -> [String: Property] {
            Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, superentityName, properties, uniquenessConstraints, indices, modelType
        }

        /// Decodes the format of ``encode(to:)``. The schema of the entity restores the links between entities.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let typeName = try container.decodeIfPresent(TypeName.self, forKey: .modelType)
            state = try GuardedState(
                State(
                    name: container.decode(String.self, forKey: .name),
                    originalName: container.decodeIfPresent(String.self, forKey: .originalName),
                    superentityName: container.decodeIfPresent(String.self, forKey: .superentityName),
                    storedProperties: container.decode([EncodedProperty].self, forKey: .properties).map(\.property),
                    uniquenessConstraints: container.decode([[String]].self, forKey: .uniquenessConstraints),
                    indexes: container.decode([FetchIndexDescription].self, forKey: .indices),
                    modelType: typeName?.type as? any PersistentModel.Type
                )
            )
        }

        /// Encodes the declarations of the entity, without inherited ones.
        public func encode(to encoder: any Encoder) throws {
            let state = state.snapshot
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(state.name, forKey: .name)
            try container.encodeIfPresent(state.originalName, forKey: .originalName)
            try container.encodeIfPresent(state.superentityName, forKey: .superentityName)
            try container.encode(state.storedProperties.compactMap(EncodedProperty.init), forKey: .properties)
            try container.encode(state.uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(state.indexes, forKey: .indices)
            try container.encodeIfPresent(state.modelType.map { TypeName($0) }, forKey: .modelType)
        }
    }
}

/// A property with its kind, which a decoder needs.
private enum EncodedProperty: Codable {
    case attribute(Schema.Attribute)
    case composite(Schema.CompositeAttribute)
    case relationship(Schema.Relationship)

    /// - Returns: Nil for a property of an unknown kind.
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
