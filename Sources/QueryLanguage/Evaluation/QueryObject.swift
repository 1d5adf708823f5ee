/// An object for which expressions are evaluated in memory, or an argument of a predicate.
///
/// Programs do not implement conformances: the object classes of the object graph conform.
public protocol QueryObject: AnyObject {
    /// The entity.
    var _$queryEntity: Entity { get }
    /// The primary key; temporary before the first save.
    var _$queryKey: Int64 { get }
    /// Returns the stored form of an attribute; null for a composite value that cannot be encoded.
    func _$storedValue(at slot: Int) -> Value
    /// Returns the destination of a to-one relationship.
    func _$queryDestination(at slot: Int) -> (any QueryObject)?
    /// Returns the members of a to-many relationship.
    func _$queryMembers(at slot: Int) -> [any QueryObject]
}
