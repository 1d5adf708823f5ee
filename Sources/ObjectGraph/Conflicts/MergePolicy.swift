/// What a save does about objects that somebody else has changed since they were read, and about values that have to be
/// unique and are not. Names and meanings are those of Core Data's `NSMergePolicy`.
///
/// | policy | an object that somebody else changed | a new object with another one's unique values |
/// |---|---|---|
/// | ``error`` | the save throws | the save throws |
/// | ``mergeByPropertyStoreTrump`` | keeps those of its changes that collide with none | gives its members to the other one |
/// | ``mergeByPropertyObjectTrump`` | keeps its changes | gives its values and members to the other one |
/// | ``overwrite`` | is written whole | as before, values that are not set included |
/// | ``rollback`` | loses its changes | is dropped |
///
/// Only objects of one entity can become one. A new object with the unique values of an object of another entity of its
/// family has other properties: the save throws ``ObjectGraphError/notUnique(_:)`` under all policies but ``rollback``, which
/// drops the new object.
///
/// An object that another context or process has deleted stays deleted, and its changes are dropped, except under
/// ``overwrite``, which inserts it again with the values that it has here: a deleted row has no properties that could be
/// merged. Whether the context has heard of the deletion before the object was changed makes no difference. An object with a
/// large value that was never read cannot be inserted again, and the save throws. An object that is inserted again is a
/// member of what this context had loaded; the other relationships went with the deletion.
///
/// An object that was deleted here and changed elsewhere stays deleted under the policies under which the object wins; those
/// under which the store wins take the deletion back, and with it those that followed from it along delete rules. The same
/// holds where other objects came to refer to the deleted one since its delete rules were applied: the rules are applied to
/// those as well, or the deletion is taken back. A delete rule `deny`, and a relationship that is not optional, are never
/// overruled: the save throws ``ObjectGraphError/validation(_:)``.
///
/// A reference to an object that was deleted elsewhere is dropped under every policy but ``error``. If the relationship is
/// not optional, the save throws ``ObjectGraphError/validation(_:)``.
public enum MergePolicy: Hashable, Sendable {
    /// The save throws, and nothing changes.
    case error
    /// What somebody else changed goes before the own change of the same property.
    case mergeByPropertyStoreTrump
    /// The own change goes before what somebody else changed.
    case mergeByPropertyObjectTrump
    /// The object goes before the store with all its properties, changed or not.
    case overwrite
    /// The own changes are dropped.
    case rollback

    /// Whether the own changes go before the store's.
    var objectWins: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}

/// Why a store cannot carry out a save as it is. The context finds out more, and lets its ``MergePolicy`` decide.
public enum SaveConflict: Error, Hashable, Sendable {
    /// Somebody else has changed or deleted the objects since they were read; all of them.
    case outdated([ManagedObjectID])
    /// The values of the properties belong to another object already.
    case notUnique(entity: String, properties: [String])
    /// References that the save writes lead to objects that the store does not have; all of them.
    case missingDestinations([WrittenReference])
    /// Objects refer to objects that the save deletes, though neither a delete rule nor the save has dealt with the
    /// reference; all of them.
    case remainingReferences([RemainingReference])
}
