/// The classes of the objects of a model's entities.
struct ObjectTypes {
    /// The class of each entity's objects, at its ``Entity/index``.
    private let types: [any GraphObject.Type]
    /// The ``Entity/index`` of the topmost entity of each class: its subentities may have the same class.
    private let entityIndexes: [ObjectIdentifier: Int]
    /// Whether the entities have composite attributes, at their ``Entity/index``.
    let haveComposites: [Bool]

    /// An entity without a class has the class of its superentity, so that a fetch can return the objects of all
    /// subentities as objects of one class.
    ///
    /// - Parameter classes: The classes by entity name.
    /// - Precondition: The class of an entity is the class of its superentity, or inherits from it.
    init(of model: ManagedObjectModel, _ classes: [String: any GraphObject.Type]) {
        let types = Self.types(of: model, classes)
        self.types = types
        let topmost = model.entities.filter { entity in
            guard let superentity = entity.superentity else { return true }
            return ObjectIdentifier(types[superentity.index]) != ObjectIdentifier(types[entity.index])
        }
        entityIndexes = Dictionary(
            topmost.map { (ObjectIdentifier(types[$0.index]), $0.index) },
            uniquingKeysWith: { first, _ in first }
        )
        haveComposites = model.entities.map(\.hasComposites)
    }

    /// The class of the objects of the entity with an ``Entity/index``.
    subscript(index: Int) -> any GraphObject.Type { types[index] }

    /// The ``Entity/index`` of the topmost entity of a class; nil if the model has none.
    func entityIndex(of type: ObjectIdentifier) -> Int? { entityIndexes[type] }

    private static func types(
        of model: ManagedObjectModel,
        _ classes: [String: any GraphObject.Type]
    ) -> [any GraphObject.Type] {
        var types: [any GraphObject.Type] = Array(repeating: ManagedObject.self, count: model.entities.count)
        for root in model.entities where root.isRoot {
            // A family lists each entity before its descendants.
            for entity in root.family {
                guard let superentity = entity.superentity else {
                    if let type = classes[entity.name] { types[entity.index] = type }
                    continue
                }
                let inherited = types[superentity.index]
                let type = classes[entity.name] ?? inherited
                precondition(
                    isKind(type, of: inherited),
                    "class '\(type)' of entity '\(entity.name)' does not inherit from '\(inherited)', the class of its "
                        + "superentity '\(superentity.name)'"
                )
                types[entity.index] = type
            }
        }
        return types
    }

    /// Whether a class is `other`, or inherits from it.
    static func isKind<Other: GraphObject>(_ type: any GraphObject.Type, of other: Other.Type) -> Bool {
        type is Other.Type
    }
}
