import ObjectGraph

extension Schema {
    /// A property that refers to other models.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible, Sendable {
        /// The effect of an object's deletion on the destinations of the relationship.
        public enum DeleteRule: String, Codable, CaseIterable, Sendable {
            /// The other side keeps its reference in memory. The save clears it in the store, or throws if it is not
            /// optional.
            case noAction
            /// The other side no longer refers to the deleted object.
            case nullify
            /// The other side is deleted as well.
            case cascade
            /// The object cannot be deleted while it refers to another object.
            case deny
        }

        /// A rule for a relationship.
        public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
            private let name: String

            /// At most one object refers to each destination. Only for to-one relationships.
            public static var unique: Option { Option(name: "unique") }

            /// The option in Swift syntax.
            public var debugDescription: String { ".\(name)" }
        }

        struct State {
            var name = ""
            var originalName: String?
            var keypath: AnyKeyPath?
            var options: [Option]
            var valueType: any Any.Type = Any.self
            var valueTypeName: TypeName?
            var destination = ""
            var deleteRule: DeleteRule
            var inverseName: String?
            var inverseKeyPath: AnyKeyPath?
            /// Whether other relationships of the class have the same inverse.
            var sharesInverse = false
            var isToMany = false
            var isOptional = false
            var minimumModelCount: Int?
            var maximumModelCount: Int?
            var hashModifier: String?
        }

        let state: GuardedState<State>

        /// Whether the schema infers the inverse.
        let infersInverse: Bool

        /// Makes a relationship with an inverse, or a one-way relationship if `inverse` is nil.
        ///
        /// - Parameters:
        ///   - options: Rules for the relationship.
        ///   - deleteRule: The effect of deleting the object on the other side.
        ///   - minimumModelCount: The minimum number of models in a to-many relationship; 0 or nil for no limit.
        ///   - maximumModelCount: The maximum number of models in a to-many relationship; 0 or nil for no limit.
        ///   - originalName: The name in the previous schema, if the property was renamed.
        ///   - inverse: The inverse relationship, a property of the other model.
        ///   - hashModifier: A text whose change marks a new meaning of the property for a migration.
        public init(
            _ options: Option...,
            deleteRule: DeleteRule = .nullify,
            minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0,
            originalName: String? = nil,
            inverse: AnyKeyPath?,
            hashModifier: String? = nil
        ) {
            infersInverse = false
            state = GuardedState(
                State(
                    originalName: originalName,
                    options: options,
                    deleteRule: deleteRule,
                    inverseKeyPath: inverse,
                    minimumModelCount: minimumModelCount,
                    maximumModelCount: maximumModelCount,
                    hashModifier: hashModifier
                )
            )
        }

        /// Makes a relationship whose inverse the schema infers if the choice is unambiguous.
        ///
        /// - Parameters:
        ///   - options: Rules for the relationship.
        ///   - deleteRule: The effect of deleting the object on the other side.
        ///   - minimumModelCount: The minimum number of models in a to-many relationship; 0 or nil for no limit.
        ///   - maximumModelCount: The maximum number of models in a to-many relationship; 0 or nil for no limit.
        ///   - originalName: The name in the previous schema, if the property was renamed.
        ///   - hashModifier: A text whose change marks a new meaning of the property for a migration.
        public init(
            _ options: Option...,
            deleteRule: DeleteRule = .nullify,
            minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0,
            originalName: String? = nil,
            hashModifier: String? = nil
        ) {
            infersInverse = true
            state = GuardedState(
                State(
                    originalName: originalName,
                    options: options,
                    deleteRule: deleteRule,
                    minimumModelCount: minimumModelCount,
                    maximumModelCount: maximumModelCount,
                    hashModifier: hashModifier
                )
            )
        }

        /// Decodes the format of ``encode(to:)``, which contains names instead of key paths.
        public init(from decoder: any Decoder) throws {
            infersInverse = false
            state = try GuardedState(Self.decodeState(from: decoder))
        }

        /// Encodes everything except the key paths.
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
        /// The key path of the property; nil in a schema without classes.
        public var keypath: AnyKeyPath? {
            get { state.keypath }
            set { state.keypath = newValue }
        }
        /// Rules for the relationship.
        public var options: [Option] {
            get { state.options }
            set { state.options = newValue }
        }
        /// The Swift type of the property: a model or an array of models, optional or not. The setter also sets the
        /// cardinality and the optionality, and ``destination`` if it is empty.
        public var valueType: any Any.Type {
            get { state.valueType }
            set {
                state.valueType = newValue
                state.valueTypeName = nil
                state.isOptional = PropertyKind.isOptional(newValue)
                let model: (any PersistentModel.Type)?
                switch PropertyKind(of: newValue) {
                case .toOne(let type): (model, state.isToMany) = (type, false)
                case .toMany(let type): (model, state.isToMany) = (type, true)
                case .attribute, nil: model = nil
                }
                if let model, state.destination.isEmpty { state.destination = String(describing: model) }
            }
        }
        /// The name of the destination entity.
        public var destination: String {
            get { state.destination }
            set { state.destination = newValue }
        }
        /// The effect of deleting the object on the other side.
        public var deleteRule: DeleteRule {
            get { state.deleteRule }
            set { state.deleteRule = newValue }
        }
        /// The name of the inverse relationship; nil for a one-way relationship.
        public var inverseName: String? {
            get { state.inverseName }
            set { state.inverseName = newValue }
        }
        /// The key path of the inverse, given or inferred.
        public var inverseKeyPath: AnyKeyPath? {
            get { state.inverseKeyPath }
            set { state.inverseKeyPath = newValue }
        }
        /// The minimum number of models in a to-many relationship; 0 or nil for no limit.
        public var minimumModelCount: Int? {
            get { state.minimumModelCount }
            set { state.minimumModelCount = newValue }
        }
        /// The maximum number of models in a to-many relationship; 0 or nil for no limit.
        public var maximumModelCount: Int? {
            get { state.maximumModelCount }
            set { state.maximumModelCount = newValue }
        }
        /// A text whose change marks a new meaning of the property for a migration.
        public var hashModifier: String? {
            get { state.hashModifier }
            set { state.hashModifier = newValue }
        }

        /// Whether the relationship leads to at most one object.
        public var isToOneRelationship: Bool { !state.isToMany }
        /// False.
        public var isAttribute: Bool { false }
        /// True.
        public var isRelationship: Bool { true }
        /// False.
        public var isTransient: Bool { false }
        /// Whether the property may be nil.
        public var isOptional: Bool { state.isOptional }
        /// Whether at most one object refers to each destination.
        public var isUnique: Bool { options.contains(.unique) }

        /// Whether both have the same name, type, destination, inverse and options.
        public static func == (left: Relationship, right: Relationship) -> Bool {
            left === right || left.identity == right.identity
        }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name, the destination, the inverse and the delete rule.
        public var debugDescription: String {
            let inverse = inverseName.map { ", inverse: \($0)" } ?? ""
            return "Relationship(\(name): \(isToOneRelationship ? destination : "[\(destination)]")"
                + "\(isOptional ? "?" : "")\(inverse), deleteRule: .\(deleteRule))"
        }

        /// The given name in the previous schema; nil if none was given.
        var renamingIdentifier: String? { state.originalName }

        private struct Identity: Hashable {
            let names: [String?]
            let options: [Option]
            let deleteRule: DeleteRule
            let isToMany: Bool
            let isOptional: Bool
            let counts: [Int]
        }

        private var identity: Identity {
            let state = state.snapshot
            return Identity(
                names: [
                    state.name, state.originalName ?? state.name, state.destination, state.inverseName,
                    state.hashModifier,
                ],
                options: state.options,
                deleteRule: state.deleteRule,
                isToMany: state.isToMany,
                isOptional: state.isOptional,
                counts: [state.minimumModelCount ?? 0, state.maximumModelCount ?? 0]
            )
        }
    }
}

extension Schema.Relationship {
    private enum CodingKeys: String, CodingKey {
        case name, originalName, options, valueType, destination, deleteRule, inverseName, sharesInverse, isToMany
        case isOptional
        case minimumModelCount, maximumModelCount, hashModifier
    }

    private static func decodeState(from decoder: any Decoder) throws -> State {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let typeName = try container.decode(TypeName.self, forKey: .valueType)
        return try State(
            name: container.decode(String.self, forKey: .name),
            originalName: container.decodeIfPresent(String.self, forKey: .originalName),
            options: container.decode([Option].self, forKey: .options),
            valueType: typeName.type ?? Any.self,
            valueTypeName: typeName,
            destination: container.decode(String.self, forKey: .destination),
            deleteRule: container.decode(DeleteRule.self, forKey: .deleteRule),
            inverseName: container.decodeIfPresent(String.self, forKey: .inverseName),
            sharesInverse: container.decodeIfPresent(Bool.self, forKey: .sharesInverse) ?? false,
            isToMany: container.decode(Bool.self, forKey: .isToMany),
            isOptional: container.decode(Bool.self, forKey: .isOptional),
            minimumModelCount: container.decodeIfPresent(Int.self, forKey: .minimumModelCount),
            maximumModelCount: container.decodeIfPresent(Int.self, forKey: .maximumModelCount),
            hashModifier: container.decodeIfPresent(String.self, forKey: .hashModifier)
        )
    }

    private func encodeState(to encoder: any Encoder) throws {
        let state = state.snapshot
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state.name, forKey: .name)
        try container.encodeIfPresent(state.originalName, forKey: .originalName)
        try container.encode(state.options, forKey: .options)
        try container.encode(state.valueTypeName ?? TypeName(state.valueType), forKey: .valueType)
        try container.encode(state.destination, forKey: .destination)
        try container.encode(state.deleteRule, forKey: .deleteRule)
        try container.encodeIfPresent(state.inverseName, forKey: .inverseName)
        if state.sharesInverse { try container.encode(true, forKey: .sharesInverse) }
        try container.encode(state.isToMany, forKey: .isToMany)
        try container.encode(state.isOptional, forKey: .isOptional)
        try container.encodeIfPresent(state.minimumModelCount, forKey: .minimumModelCount)
        try container.encodeIfPresent(state.maximumModelCount, forKey: .maximumModelCount)
        try container.encodeIfPresent(state.hashModifier, forKey: .hashModifier)
    }
}
