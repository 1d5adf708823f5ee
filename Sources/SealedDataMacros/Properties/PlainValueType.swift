import SwiftSyntax

/// A written type that is a value for every program, so that a relationship cannot lead to it.
///
/// A macro sees names only. A model class may have the name of a type of Foundation, such as `Unit`: the list contains
/// only names without which hardly any program works.
enum PlainValueType {
    private static let names: Set<String> = [
        "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "String",
        "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "URL", "UUID",
    ]

    /// Whether a type is a value, or an array or optional of values.
    static func isValue(_ type: TypeSyntax) -> Bool {
        if let optional = type.as(OptionalTypeSyntax.self) { return isValue(optional.wrappedType) }
        if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return isValue(optional.wrappedType) }
        if let array = type.as(ArrayTypeSyntax.self) { return isValue(array.element) }
        if let name = type.as(IdentifierTypeSyntax.self) {
            return name.genericArgumentClause == nil && names.contains(name.name.text)
        }
        return type.is(DictionaryTypeSyntax.self)
    }
}
