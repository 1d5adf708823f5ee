/// The classes of the objects of a model's entities.
enum ObjectTypes {
    /// Returns the class of each entity's objects, at its ``Entity/index``. An entity without a class has that of its
    /// superentity, so that a fetch can return the objects of all subentities as objects of one class.
    ///
    /// - Parameter classes: The classes by entity name.
    /// - Precondition: The class of an entity is that of its superentity, or inherits from it.
    static func types(
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

    /// Whether a class is another one, or inherits from it.
    static func isKind<Other: GraphObject>(_ type: any GraphObject.Type, of other: Other.Type) -> Bool {
        type is Other.Type
    }
}
