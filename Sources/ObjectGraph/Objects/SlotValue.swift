/// The value of an object's slot beyond its row: a changed attribute, or the members of a to-many relationship.
@usableFromInline
enum SlotValue {
    /// The slot has not been changed or filled: the row has its value.
    case unset
    /// An attribute, or a to-one relationship as the key of its destination.
    case value(Value)
    /// An attribute of a type that is stored as JSON text, which the save encodes.
    case composite(any CompositeValue)
    /// The known members of a to-many relationship.
    case members(ToManyMembers)
    /// Objects that an initializer assigned to a relationship, before other objects could refer to the object itself.
    case pending([any GraphObject])

    @inlinable
    var isUnset: Bool {
        if case .unset = self { true } else { false }
    }

    /// The integer of an attribute or the key of a destination; nil for other values. Unlike a match of the whole
    /// value, this retains nothing.
    @inline(__always)
    var integer: Int64? {
        if case .value(.integer(let integer)) = self { integer } else { nil }
    }

    /// Whether the value refers to no memory, so that nothing happens when it is destroyed.
    @inlinable
    @inline(__always)
    var isTrivial: Bool {
        switch self {
        case .unset, .value(.null), .value(.integer), .value(.real), .value(.uuid): true
        case .value(.text), .value(.blob), .composite, .members, .pending: false
        }
    }
}

/// A value of a type that is stored as JSON text.
public protocol CompositeValue: AnyObject {
    /// The JSON text to store.
    ///
    /// - Throws: errors of the type's `encode(to:)`.
    func encodedText() throws -> String
}
