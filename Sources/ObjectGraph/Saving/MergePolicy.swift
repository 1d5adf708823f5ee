/// The resolution of conflicts with objects that another context or process has changed since they were read, and of
/// collisions of unique values. Core Data's `NSMergePolicy` has the same names with the same meanings.
///
/// | policy | an object that another writer has changed | a new object, to the owner of its unique values |
/// |---|---|---|
/// | ``error`` | the save throws | the save throws |
/// | ``mergeByPropertyStoreTrump`` | keeps changes of properties that the store has not changed | passes its members |
/// | ``mergeByPropertyObjectTrump`` | keeps its changes | passes its values and members |
/// | ``overwrite`` | is written with all values | the same, including values that are not set |
/// | ``rollback`` | loses its changes | is dropped, with the new objects that its delete rules delete |
///
/// Only objects of one entity can be merged. A new object with the unique values of an object of another entity in its
/// inheritance has other properties: the save throws ``ObjectGraphError/notUnique(_:)`` under all policies but
/// ``rollback``, which drops the new object.
///
/// An object that another context or process has deleted stays deleted, and its changes are dropped, except under
/// ``overwrite``, which inserts it again with the values in this context: a deleted row has no properties that could be
/// merged. The result does not depend on whether the context has merged the deletion before the change. An object with
/// a large value that was never read cannot be inserted again, and the save throws. A reinserted object is a member of
/// the relationships that this context had loaded; its other relationships were lost with the deletion. A one-to-one
/// relationship whose destination has got another partner is empty afterwards.
///
/// An object that this context has deleted and another writer has changed stays deleted under the policies under which
/// the object wins. The policies under which the store wins revert the deletion, together with the deletions that
/// followed from it along delete rules. The same holds if other objects have got references to the deleted object since
/// its delete rules were applied: the rules are applied to these references as well, or the deletion is reverted. A
/// delete rule `deny`, and a relationship that is not optional, are never overruled: the save throws
/// ``ObjectGraphError/validation(_:)``.
///
/// A reference to an object that another writer has deleted is dropped under every policy but ``error``. If the
/// relationship is not optional, the save throws ``ObjectGraphError/validation(_:)``.
public enum MergePolicy: Hashable, Sendable {
    /// The save throws, and nothing changes.
    case error
    /// The stored value of a property takes precedence over the object's change.
    case mergeByPropertyStoreTrump
    /// The object's change takes precedence over the stored value.
    case mergeByPropertyObjectTrump
    /// The object takes precedence over the store with all its properties, changed or not.
    case overwrite
    /// The object's changes are dropped.
    case rollback

    /// Whether the object's changes take precedence over the stored values.
    var objectWins: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}
