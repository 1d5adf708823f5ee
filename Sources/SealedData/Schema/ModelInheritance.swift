/// A model class and the model classes that it inherits from, each with what it declares itself.
struct ModelInheritance {
    /// One class of the line.
    struct Level {
        let type: any PersistentModel.Type
        /// The properties that the class itself declares, in the order of their declaration.
        let properties: [Schema.PropertyMetadata]
        /// The indexes and uniqueness constraints that the class itself declares.
        let rules: [any SchemaProperty]
    }

    /// The classes from the topmost down to the one asked for.
    let levels: [Level]

    init(of type: any PersistentModel.Type) {
        var types: [any PersistentModel.Type] = [type]
        while let last = types.last, let superclass = Self.superclass(of: last) { types.append(superclass) }

        var levels: [Level] = []
        var inheritedNames: Set<String> = []
        for type in types.reversed() {
            // A class that adds nothing answers its superclass's metadata, and one may prepend it to its own.
            let own = type.schemaMetadata.filter { Self.isDeclared($0, by: type) && !inheritedNames.contains($0.name) }
            let properties = own.filter { !Self.isRule($0) }
            inheritedNames.formUnion(properties.map(\.name))
            levels.append(
                Level(type: type, properties: properties, rules: own.filter(Self.isRule).compactMap(\.metadata))
            )
        }
        self.levels = levels
    }

    /// The model class that a model class inherits from.
    static func superclass(of type: any PersistentModel.Type) -> (any PersistentModel.Type)? {
        guard let superclass = _getSuperclass(type) else { return nil }
        return superclass as? any PersistentModel.Type
    }

    /// An index or a constraint has to name a key path too; it names one of the schema.
    private static func isRule(_ entry: Schema.PropertyMetadata) -> Bool {
        entry.metadata is any IndexRule || entry.metadata is any UniqueRule
    }

    private static func isDeclared(_ entry: Schema.PropertyMetadata, by type: any PersistentModel.Type) -> Bool {
        switch entry.metadata {
        case let rule as any ModelRule: rule.modelType == type
        default: Swift.type(of: entry.keypath).rootType == type
        }
    }
}

/// An ``Schema/Index`` or ``Schema/Unique``, whatever its model.
protocol ModelRule {
    var modelType: any PersistentModel.Type { get }
}

extension Schema.Index: ModelRule {
    var modelType: any PersistentModel.Type { T.self }
}

extension Schema.Unique: ModelRule {
    var modelType: any PersistentModel.Type { T.self }
}
