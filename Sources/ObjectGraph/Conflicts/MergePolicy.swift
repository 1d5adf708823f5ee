/// How a save resolves conflicts with objects that another context or process has changed since they were read, and
/// values that are not unique but must be. Names and meanings are those of Core Data's `NSMergePolicy`.
///
/// | policy | an object that was changed elsewhere | a new object with another object's unique values |
/// |---|---|---|
/// | ``error`` | the save throws | the save throws |
/// | ``mergeByPropertyStoreTrump`` | keeps those of its changes that collide with none | gives its members to the other one |
/// | ``mergeByPropertyObjectTrump`` | keeps its changes | gives its values and members to the other one |
/// | ``overwrite`` | is written whole | as before, values that are not set included |
/// | ``rollback`` | loses its changes | is dropped |
///
/// Only objects of one entity can become one. A new object with the unique values of an object of another entity of its
/// family has other properties: the save throws ``ObjectGraphError/notUnique(_:)`` under all policies but ``rollback``,
/// which drops the new object.
///
/// An object that another context or process has deleted stays deleted, and its changes are dropped, except under
/// ``overwrite``, which inserts it again with the values that it has here: a deleted row has no properties that could
/// be merged. Whether the context has heard of the deletion before the object was changed makes no difference. An
/// object with a large value that was never read cannot be inserted again, and the save throws. An object that is
/// inserted again is a member of what this context had loaded; the other relationships went with the deletion.
///
/// An object that was deleted here and changed elsewhere stays deleted under the policies under which the object wins;
/// those under which the store wins take the deletion back, and with it those that followed from it along delete rules.
/// The same holds where other objects came to refer to the deleted one since its delete rules were applied: the rules
/// are applied to those as well, or the deletion is reverted. A delete rule `deny`, and a relationship that is not
/// optional, are never overruled: the save throws ``ObjectGraphError/validation(_:)``.
///
/// A reference to an object that was deleted elsewhere is dropped under every policy but ``error``. If the relationship
/// is not optional, the save throws ``ObjectGraphError/validation(_:)``.
public enum MergePolicy: Hashable, Sendable {
    /// The save throws, and nothing changes.
    case error
    /// The stored value of a property takes precedence over the own change.
    case mergeByPropertyStoreTrump
    /// The own change takes precedence over the stored value.
    case mergeByPropertyObjectTrump
    /// The object takes precedence over the store with all its properties, changed or not.
    case overwrite
    /// The own changes are dropped.
    case rollback

    /// Whether the own changes take precedence over the stored values.
    var objectWins: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}
