/// Reads and writes a property through the object's row. ``Model()`` puts it on every persisted property; nobody
/// writes it by hand.
@attached(accessor, names: named(init), named(get), named(set))
public macro _PersistedProperty(slot: Int) =
    #externalMacro(module: "SealedDataMacros", type: "PersistedPropertyMacro")

/// The same in a class that may inherit from a model class, whose properties come first.
@attached(accessor, names: named(init), named(get), named(set))
public macro _PersistedProperty(offset: Int) =
    #externalMacro(module: "SealedDataMacros", type: "PersistedPropertyMacro")

/// Observes a property with the option ``Schema/Attribute/Option/ephemeral``. ``Model()`` adds it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$e_))
public macro _EphemeralProperty() =
    #externalMacro(module: "SealedDataMacros", type: "EphemeralPropertyMacro")

/// Marks a persisted property as one whose attribute names a value transformer. SwiftData's expansions and code that was
/// written from them name it; it has no effect here, because ``Model()`` handles values of all types.
@attached(peer)
public macro _TransformablePersistedProperty() =
    #externalMacro(module: "SealedDataMacros", type: "TransformablePropertyMacro")

/// Lets initializers give a persisted property its first value before the object is complete. ``Model()`` puts it in
/// front of ``_PersistedProperty(slot:)``; nobody writes it by hand.
///
/// Both macros name all three accessors, because the compiler checks each one's list against what the other one adds.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$p_))
public macro _InitializedProperty(slot: Int) =
    #externalMacro(module: "SealedDataMacros", type: "InitializedPropertyMacro")

/// The same in a class that may inherit from a model class, whose properties come first.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$p_))
public macro _InitializedProperty(offset: Int) =
    #externalMacro(module: "SealedDataMacros", type: "InitializedPropertyMacro")
