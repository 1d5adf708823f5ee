package import Foundation

/// A constant of a predicate's text form: a literal or an argument.
///
/// Its stored form depends on the other side of the comparison: `1.5` is a real for an attribute of type `Double`, and
/// exact bytes for an attribute of type `Decimal`.
///
/// `@unchecked Sendable`: all cases but `object` hold `Sendable` values. An object of a context is accessed only when
/// the predicate is read for a fetch, which the isolation of that context does: a fetch from another context with the
/// object of this one breaks the rule that objects stay in their isolation before it reaches the argument.
package indirect enum PredicateArgument: @unchecked Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer greater than `Int64.max`.
    case unsigned(UInt64)
    /// The text of a number, in the form that `Double` and `Decimal` read.
    case digits(String)
    case real(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case uuid(UUID)
    case url(URL)
    case data(Data)
    /// A stored value, for an attribute of any type with that stored form.
    case stored(Value)
    case object(any PredicateObject)
    case list([PredicateArgument])
    /// The bounds of a range; a nil one is open.
    case range(PredicateArgument?, PredicateArgument?, includesUpper: Bool)
    /// A value whose type is not an attribute type, by the name of the type.
    case unsupported(String)
}

/// An object in a predicate, or its identifier.
package protocol PredicateObject {
    /// Returns the primary key; nil if the object's entity has no common ancestor with `entity`.
    func predicateKey(in entity: Entity) -> Int64?
    /// The name of the object's entity.
    var predicateEntityName: String { get }
}

/// An object whose key is read when the predicate is used: a save changes the key of a new object.
private struct ObjectArgument: PredicateObject {
    let object: any QueryObject

    func predicateKey(in entity: Entity) -> Int64? {
        entity.inheritance.contains { $0.name == object._$queryEntity.name } ? object._$queryKey : nil
    }

    var predicateEntityName: String { object._$queryEntity.name }
}

extension Entity {
    /// All entities with the same topmost ancestor, this one included.
    package var inheritance: [Entity] { superentity?.inheritance ?? family }
}

// MARK: Reading values

extension PredicateArgument {
    /// Creates a constant from a number literal.
    init(_ number: FormatNumber) {
        switch number {
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .digits(let digits): self = .digits(digits)
        }
    }

    /// Creates a constant from an argument: nil, a value of an attribute type, an enum with a raw value, an object or
    /// its identifier, a collection of these, or a range.
    package init(_ argument: Any?) {
        guard let argument else {
            self = .null
            return
        }
        switch argument {
        case let argument as PredicateArgument: self = argument
        case let value as any StorableValue: self.init(storable: value)
        case let value as Value: self = value.isNull ? .null : .stored(value)
        case let text as Substring: self = .text(String(text))
        case let object as any PredicateObject: self = .object(object)
        case let object as any QueryObject: self = .object(ObjectArgument(object: object))
        case let optional as any OptionalArgument: self.init(optional.wrapped)
        case let range as any RangeArgument: self = range.predicateArgument
        case let value as any RawRepresentable: self.init(rawValueOf: value)
        case let values as any Collection: self.init(elementsOf: values)
        default: self = .unsupported("\(type(of: argument))")
        }
    }

    private init(storable value: any StorableValue) {
        switch value {
        case let value as Bool: self = .boolean(value)
        case let value as any FixedWidthInteger: self.init(integer: value)
        case let value as Double: self = .real(value)
        case let value as Float: self = .real(Double(value))
        case let value as Decimal: self = .decimal(value)
        case let value as String: self = .text(value)
        case let value as Date: self = .date(value)
        case let value as UUID: self = .uuid(value)
        case let value as URL: self = .url(value)
        case let value as Data: self = .data(value)
        default: self = .unsupported("\(type(of: value))")
        }
    }

    private init(integer: some FixedWidthInteger) {
        if let value = Int64(exactly: integer) {
            self = .integer(value)
        } else if let value = UInt64(exactly: integer) {
            self = .unsigned(value)
        } else {
            self = .unsupported("\(type(of: integer))")
        }
    }

    private init<T: RawRepresentable>(rawValueOf value: T) { self.init(value.rawValue) }

    private init<T: Collection>(elementsOf values: T) {
        let elements = values.map { PredicateArgument($0) }
        let isSupported = !elements.contains { if case .unsupported = $0 { true } else { false } }
        self = isSupported ? .list(elements) : .unsupported("\(T.self)")
    }
}

/// An optional inside an `Any`.
private protocol OptionalArgument {
    var wrapped: Any? { get }
}

extension Optional: OptionalArgument {
    fileprivate var wrapped: Any? { map { $0 } }
}

/// A range, of which only the bounds are read.
private protocol RangeArgument {
    var predicateArgument: PredicateArgument { get }
}

extension ClosedRange: RangeArgument {
    fileprivate var predicateArgument: PredicateArgument {
        .range(PredicateArgument(lowerBound), PredicateArgument(upperBound), includesUpper: true)
    }
}

extension Range: RangeArgument {
    fileprivate var predicateArgument: PredicateArgument {
        .range(PredicateArgument(lowerBound), PredicateArgument(upperBound), includesUpper: false)
    }
}

extension PartialRangeFrom: RangeArgument {
    fileprivate var predicateArgument: PredicateArgument {
        .range(PredicateArgument(lowerBound), nil, includesUpper: true)
    }
}

extension PartialRangeThrough: RangeArgument {
    fileprivate var predicateArgument: PredicateArgument {
        .range(nil, PredicateArgument(upperBound), includesUpper: true)
    }
}

extension PartialRangeUpTo: RangeArgument {
    fileprivate var predicateArgument: PredicateArgument {
        .range(nil, PredicateArgument(upperBound), includesUpper: false)
    }
}
