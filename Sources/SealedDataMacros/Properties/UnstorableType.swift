import SwiftSyntax

/// A written type whose values cannot be stored, regardless of the meaning of its names.
enum UnstorableType: String {
    case tuple, function, existential, metatype

    /// Creates the kind of the part of a type that cannot be stored; nil if the type has no such part.
    init?(in type: TypeSyntax) {
        if let optional = type.as(OptionalTypeSyntax.self) {
            self.init(in: optional.wrappedType)
        } else if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            self.init(in: optional.wrappedType)
        } else if let attributed = type.as(AttributedTypeSyntax.self) {
            self.init(in: attributed.baseType)
        } else if let array = type.as(ArrayTypeSyntax.self) {
            self.init(in: array.element)
        } else if let dictionary = type.as(DictionaryTypeSyntax.self) {
            self.init(in: dictionary.value)
        } else if let tuple = type.as(TupleTypeSyntax.self) {
            if tuple.elements.count == 1, let element = tuple.elements.first {
                self.init(in: element.type)
            } else {
                self = .tuple
            }
        } else if type.is(FunctionTypeSyntax.self) {
            self = .function
        } else if let constrained = type.as(SomeOrAnyTypeSyntax.self) {
            self = constrained.constraint.is(MetatypeTypeSyntax.self) ? .metatype : .existential
        } else if type.is(MetatypeTypeSyntax.self) {
            self = .metatype
        } else {
            return nil
        }
    }

    /// The problem and its remedy.
    var message: String {
        switch self {
        case .tuple: "a tuple can't be stored; declare a struct that is Codable, or mark the property @Transient"
        case .function: "a function can't be stored; mark the property @Transient"
        case .existential:
            "a value of an unknown type can't be read again; use an enum or struct that is Codable, or mark the "
                + "property @Transient"
        case .metatype: "a type can't be stored; keep a name for it, or mark the property @Transient"
        }
    }
}
