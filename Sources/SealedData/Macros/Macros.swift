/// Makes a class persistent: every stored property is persisted, unless it is ``Transient()``.
///
/// ```swift
/// @Model
/// final class Trip {
///     #Index<Trip>([\.name])
///     var name: String
///     @Attribute(.unique) var code: String
///     @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
///     @Transient var isSelected = false
///
///     init(name: String, code: String) { … }
/// }
/// ```
///
/// The class gets a conformance to ``PersistentModel`` and is not `Sendable`. Initial values are evaluated only for new
/// objects, never for fetched objects. `willSet` and `didSet` run as on any property, and also if an initializer
/// replaces the property's initial value.
///
/// Other classes with `@Model` can inherit from a class that is not final. They are separate entities, and a fetch of
/// the superclass also finds their objects.
@attached(
    member,
    conformances: PersistentModel,
    _InheritableModel,
    names: named(_$state),
    prefixed(_$initial_),
    named(_$address),
    prefixed(_$superclass_),
    prefixed(_$firstSlot_),
    named(_$stateClass),
    named(_$slotCount),
    named(_$applyDefaults),
    named(_$isEqual),
    named(_$initialized),
    prefixed(_$ownMetadata_),
    prefixed(_$ownKeyPaths_),
    named(_$completeState),
    named(_$keyPaths),
    named(schemaMetadata),
    named(init)
)
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, _InheritableModel, Sendable)
public macro Model() = #externalMacro(module: "SealedDataMacros", type: "ModelMacro")

/// Makes a class persistent that had another name in the previous schema.
///
/// ```swift
/// @Model(originalName: "Stop")
/// final class Place { … }
/// ```
///
/// A store that has the entity `Stop` is migrated: its objects, with their identities and relationships, become objects
/// of the class. The class and its properties may have further changes. The name can stay in the source: the renaming
/// applies once to a store. ``Model()`` describes the macro itself.
///
/// - Parameter originalName: The name of the class in the previous schema, without its enclosing types.
@attached(
    member,
    conformances: PersistentModel,
    _InheritableModel,
    names: named(_$state),
    prefixed(_$initial_),
    named(_$address),
    prefixed(_$superclass_),
    prefixed(_$firstSlot_),
    named(_$stateClass),
    named(_$slotCount),
    named(_$applyDefaults),
    named(_$isEqual),
    named(_$initialized),
    prefixed(_$ownMetadata_),
    prefixed(_$ownKeyPaths_),
    named(_$completeState),
    named(_$keyPaths),
    named(schemaMetadata),
    named(init)
)
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, _InheritableModel, Sendable)
public macro Model(originalName: String) = #externalMacro(module: "SealedDataMacros", type: "ModelMacro")

/// Sets options of a persisted attribute.
///
/// - Parameters:
///   - options: Rules for the attribute's values, such as ``Schema/Attribute/Option/unique``.
///   - originalName: The attribute's name in the previous schema, if it was renamed.
///   - hashModifier: A value whose change marks a new meaning of the attribute for a migration.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option...,
    originalName: String? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "SealedDataMacros", type: "AttributeMacro")

/// Sets options of a relationship to other models.
///
/// - Parameters:
///   - options: Rules for the relationship.
///   - deleteRule: The effect of deleting the object on the models that the relationship leads to.
///   - minimumModelCount: The minimum number of models in a to-many relationship; 0 for no limit.
///   - maximumModelCount: The maximum number of models in a to-many relationship; 0 for no limit.
///   - originalName: The relationship's name in the previous schema, if it was renamed.
///   - inverse: The inverse relationship, a property of the other model.
///   - hashModifier: A value whose change marks a new meaning of the relationship for a migration.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option...,
    deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0,
    maximumModelCount: Int? = 0,
    originalName: String? = nil,
    inverse: AnyKeyPath? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "SealedDataMacros", type: "RelationshipMacro")

/// Excludes a stored property of a model from the store. The property must be optional or have a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "SealedDataMacros", type: "TransientMacro")

/// Declares indexes of a model, each over one or more properties. It belongs in the body of the class.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SealedDataMacros", type: "IndexMacro")

/// Declares indexes of a model by kind. It belongs in the body of the class.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "SealedDataMacros", type: "IndexMacro")

/// Declares combinations of properties whose values are unique among the objects of the class. It belongs in the body
/// of the class.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SealedDataMacros", type: "UniqueMacro")

/// Adds a separate model context to an actor, which the actor uses on a dedicated executor.
///
/// The actor gets `init(modelContainer:)`, `modelContainer`, `modelExecutor` and the conformance to ``ModelActor``.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SealedDataMacros", type: "ModelActorMacro")
