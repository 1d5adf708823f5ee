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
    /// The stored form of a value of another type, for an attribute of that type.
    case typed(Value, AttributeType)
    /// A stored value, for an attribute of any type with that stored form.
    case stored(Value)
    case object(any PredicateObject)
    case list([PredicateArgument])
    /// The bounds of a range; a nil one is open.
    case range(PredicateArgument?, PredicateArgument?, includesUpper: Bool)
    /// A value whose type is not an attribute type, by the name of the type.
    case unsupported(String)
    /// A value that its type refuses to store, by the name of the type.
    case unstorable(String)
}

extension PredicateArgument {
    /// Whether a predicate can use the constant.
    var isSupported: Bool {
        switch self {
        case .unsupported, .unstorable: false
        default: true
        }
    }
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

    private init<T: StorableValue>(storable value: T) {
        guard let stored = try? value.storedValue else {
            self = .unstorable("\(T.self)")
            return
        }
        let type = T.attributeType
        switch (type.form, stored) {
        case (.boolean, .integer(let integer)): self = .boolean(integer != 0)
        case (.integer, .integer(let integer)) where type.isNumber: self = .integer(integer)
        case (.unsigned, .integer(let bits)): self = bits < 0 ? .unsigned(UInt64(bitPattern: bits)) : .integer(bits)
        case (.float, .real(let real)), (.double, .real(let real)): self = .real(real)
        case (.decimal, _): self = Decimal(storedValue: stored).map { .decimal($0) } ?? .typed(stored, type)
        case (.text, .text(let text)): self = .text(text)
        case (.date, .real(let seconds)): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        // The other side of a comparison has the same type, or none.
        case (_, _): self = .typed(stored, type)
        }
    }

    private init<T: RawRepresentable>(rawValueOf value: T) { self.init(value.rawValue) }

    private init<T: Collection>(elementsOf values: T) {
        let elements = values.map { PredicateArgument($0) }
        let isSupported = elements.allSatisfy(\.isSupported)
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
