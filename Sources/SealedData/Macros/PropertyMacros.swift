/// Reads and writes a property through the object's row. ``Model()`` adds it to every persisted property; programs do
/// not write it.
@attached(accessor, names: named(init), named(get), named(set))
public macro _PersistedProperty(slot: Int) =
    #externalMacro(module: "SealedDataMacros", type: "PersistedPropertyMacro")

/// Reads and writes a property of a class that may inherit from a model class. The slots of inherited properties
/// precede its slots.
@attached(accessor, names: named(init), named(get), named(set))
public macro _PersistedProperty(offset: Int) =
    #externalMacro(module: "SealedDataMacros", type: "PersistedPropertyMacro")

/// Observes a property with the option ``Schema/Attribute/Option/ephemeral``. ``Model()`` adds it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$e_))
public macro _EphemeralProperty() =
    #externalMacro(module: "SealedDataMacros", type: "EphemeralPropertyMacro")

/// Marks a persisted property whose attribute names a value transformer. SwiftData's expansions, and code copied from
/// them, contain it. It has no effect, because ``Model()`` recognizes the option
/// ``Schema/Attribute/Option/transformable(by:)-(ValueTransformer.Type)``.
@attached(peer)
public macro _TransformablePersistedProperty() =
    #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

/// Lets initializers assign a persisted property before the object is complete. ``Model()`` adds it before
/// ``_PersistedProperty(slot:)``; programs do not write it.
///
/// Both macros name all three accessors, because the compiler checks the list of each against the accessors that the
/// other adds.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$p_))
public macro _InitializedProperty(slot: Int) =
    #externalMacro(module: "SealedDataMacros", type: "InitializedPropertyMacro")

/// Lets initializers assign a property of a class that may inherit from a model class. The slots of inherited
/// properties precede its slots.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$p_))
public macro _InitializedProperty(offset: Int) =
    #externalMacro(module: "SealedDataMacros", type: "InitializedPropertyMacro")
