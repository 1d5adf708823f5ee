import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty(slot:)`: reads and writes a property through the object's row.
///
/// It turns a stored property into a computed one, and the compiler then drops the property's initial value, which
/// `@Model` puts into `_$applyDefaults(to:)` instead: an object that comes from the store never evaluates it.
enum PersistedPropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init),
            let slot = slotExpression(of: node, in: context)
        else { return [] }
        if property.isLet { return ["get { _$value(at: \(raw: slot)) }"] }
        var accessors: [AccessorDeclSyntax] = [
            "get { _$value(at: \(raw: slot)) }", ObservedSetter(property: property, slot: slot).accessor,
        ]
        if let type = property.type, property.isWrittenArray, !property.hasObservers {
            // Adding to an array in place must not copy it.
            accessors.append(
                """
                _modify {
                    var _$elements: \(raw: type) = _$take(at: \(raw: slot))
                    defer { _$put(_$elements, at: \(raw: slot)) }
                    yield &_$elements
                }
                """
            )
        }
        return accessors
    }
}

/// The expression for the slot that the argument of `attribute` tells: the number itself, or, as an offset, counted from
/// the class's first slot.
func slotExpression(of attribute: AttributeSyntax, in context: some MacroExpansionContext) -> String? {
    guard let argument = attribute.arguments?.as(LabeledExprListSyntax.self)?.first else { return nil }
    let number = argument.expression.trimmedDescription
    if argument.label?.text == "slot" { return number }
    return enclosingClassName(in: context).map { "\($0)._$firstSlot + \(number)" }
}

/// The name by which the class that a property stands in calls itself: inside its body the unqualified one always
/// resolves.
func enclosingClassName(in context: some MacroExpansionContext) -> String? {
    context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.trimmed.text
}
