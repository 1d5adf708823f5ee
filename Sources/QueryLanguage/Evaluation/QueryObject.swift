/// An object for which expressions are evaluated in memory, or an argument of a predicate.
///
/// Programs do not conform types: the object classes of the object graph conform.
public protocol QueryObject: AnyObject {
    /// The entity.
    var _$queryEntity: Entity { get }
    /// The primary key; temporary before the first save.
    var _$queryKey: Int64 { get }
    /// The value that an attribute is stored as; null for a composite value that cannot be encoded.
    func _$storedValue(at slot: Int) -> Value
    /// The object that a to-one relationship leads to.
    func _$queryDestination(at slot: Int) -> (any QueryObject)?
    /// The objects that a to-many relationship leads to.
    func _$queryMembers(at slot: Int) -> [any QueryObject]
}
