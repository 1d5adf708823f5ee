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
/// Where an object was deleted by somebody else, the policies under which the object wins insert it again; one with a large
/// value that was never read cannot be, and the save throws. Where it was
/// deleted here and changed elsewhere, those under which the store wins take the deletion back, and with it those that followed
/// from it along delete rules. An object that is inserted again is a member of what this context had loaded; the other
/// relationships went with the deletion.
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
}
