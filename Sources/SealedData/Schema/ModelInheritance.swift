/// A model class and its model superclasses, each with its declarations.
struct ModelInheritance {
    /// One class of the inheritance chain.
    struct Level {
        let type: any PersistentModel.Type
        /// The properties that the class declares, in the order of their declaration.
        let properties: [Schema.PropertyMetadata]
        /// The indexes and uniqueness constraints that the class declares, and its name in the previous schema.
        let rules: [any SchemaProperty]
    }

    /// The classes from the topmost one to the given one.
    let levels: [Level]

    init(of type: any PersistentModel.Type) {
        var types: [any PersistentModel.Type] = [type]
        while let last = types.last, let superclass = Self.superclass(of: last) { types.append(superclass) }

        var levels: [Level] = []
        var inheritedNames: Set<String> = []
        for type in types.reversed() {
            // A class without declarations returns its superclass's metadata, and a class may include it.
            let own = type.schemaMetadata.filter { Self.isDeclared($0, by: type) && !inheritedNames.contains($0.name) }
            let properties = own.filter { !Self.isRule($0) }
            inheritedNames.formUnion(properties.map(\.name))
            levels.append(
                Level(type: type, properties: properties, rules: own.filter(Self.isRule).compactMap(\.metadata))
            )
        }
        self.levels = levels
    }

    /// The model superclass of a model class.
    static func superclass(of type: any PersistentModel.Type) -> (any PersistentModel.Type)? {
        guard let superclass = _getSuperclass(type) else { return nil }
        return superclass as? any PersistentModel.Type
    }

    /// The metadata of a declaration about the class needs a key path, which names no property of the class.
    private static func isRule(_ entry: Schema.PropertyMetadata) -> Bool { entry.metadata is any ModelRule }

    private static func isDeclared(_ entry: Schema.PropertyMetadata, by type: any PersistentModel.Type) -> Bool {
        switch entry.metadata {
        case let rule as any ModelRule: rule.modelType == type
        default: Swift.type(of: entry.keypath).rootType == type
        }
    }
}

/// A ``Schema/Index``, ``Schema/Unique`` or ``Schema/_OriginalName`` of any model.
protocol ModelRule {
    var modelType: any PersistentModel.Type { get }
}

extension Schema.Index: ModelRule {
    var modelType: any PersistentModel.Type { T.self }
}

extension Schema.Unique: ModelRule {
    var modelType: any PersistentModel.Type { T.self }
}

extension Schema._OriginalName: ModelRule {
    var modelType: any PersistentModel.Type { T.self }
}
