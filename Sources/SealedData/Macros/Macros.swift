/// Makes a class persistent: every stored property is kept in the store, unless it is ``Transient()``.
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
/// The class gets a conformance to ``PersistentModel`` and is not `Sendable`. Initial values are evaluated for new
/// objects only, never for objects that come from the store. `willSet` and `didSet` run as on any property, and when an
/// initializer gives the property another value than its first one.
///
/// A class that is not final can be inherited from by other classes with `@Model`. They are entities of their own, whose
/// objects are found wherever those of the class are asked for.
@attached(
    member,
    conformances: PersistentModel,
    _InheritableModel,
    names: named(_$state),
    named(_$initial),
    named(_$address),
    named(_$superclass),
    named(_$firstSlot),
    named(_$stateClass),
    named(_$slotCount),
    named(_$applyDefaults),
    named(_$completeState),
    named(_$keyPaths),
    named(schemaMetadata),
    named(init)
)
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, _InheritableModel, Sendable)
public macro Model() = #externalMacro(module: "SealedDataMacros", type: "ModelMacro")

/// Says more about a persisted attribute than its type does.
///
/// - Parameters:
///   - options: Rules for the attribute's values, such as ``Schema/Attribute/Option/unique``.
///   - originalName: The attribute's name in the previous schema, when it was renamed.
///   - hashModifier: A value whose change tells a migration that the attribute has a new meaning.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option...,
    originalName: String? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "SealedDataMacros", type: "AttributeMacro")

/// Says more about a reference to other models than its type does.
///
/// - Parameters:
///   - options: Rules for the relationship.
///   - deleteRule: What happens to the other side when the object is deleted.
///   - minimumModelCount: The least number of models a to-many relationship may hold; 0 stands for no limit.
///   - maximumModelCount: The greatest number of models a to-many relationship may hold; 0 stands for no limit.
///   - originalName: The relationship's name in the previous schema, when it was renamed.
///   - inverse: The property of the other model that refers back.
///   - hashModifier: A value whose change tells a migration that the relationship has a new meaning.
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

/// Keeps a stored property of a model out of the store. It must be optional or have a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "SealedDataMacros", type: "TransientMacro")

/// Declares indexes of a model, each over one or several properties, in the body of its class.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SealedDataMacros", type: "IndexMacro")

/// Declares indexes of a model by kind, in the body of its class.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "SealedDataMacros", type: "IndexMacro")

/// Declares combinations of properties whose values at most one object has, in the body of its class.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SealedDataMacros", type: "UniqueMacro")

/// Gives an actor a model context of its own, which it uses on its own executor.
///
/// The actor gets `init(modelContainer:)`, `modelContainer`, `modelExecutor` and the conformance to ``ModelActor``.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SealedDataMacros", type: "ModelActorMacro")
