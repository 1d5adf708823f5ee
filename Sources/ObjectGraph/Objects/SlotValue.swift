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

/// A value that cannot be stored, in the place of its stored form: it can be read until a save reports it.
public final class RefusedValue: CompositeValue {
    /// The value.
    public let value: any StorableValue
    private let error: UnstorableValue

    /// Creates the place of a value that its type refuses to store.
    @usableFromInline
    init(_ value: any StorableValue, _ error: UnstorableValue) {
        self.value = value
        self.error = error
    }

    /// Throws `UnstorableValue`, as the value has no stored form.
    public func encodedText() throws -> String { throw error }
}

extension ObjectGraphError.ValidationProblem.Reason {
    /// The reason for which a save refuses a value whose ``CompositeValue/encodedText()`` throws an error.
    init(ofEncoding error: any Error) {
        self = error is UnstorableValue ? .notRepresentable : .notEncodable
    }
}
