import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty(slot:)`: reads and writes a property through the object's row.
///
/// It turns a stored property into a computed one, for which the compiler drops the initial value. `@Model` puts the
/// initial value into `_$applyDefaults(to:)` instead, so that a fetched object never evaluates it.
enum PersistedPropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = PersistedProperty(declaration, in: context),
            let slot = slotExpression(of: node, in: context)
        else { return [] }
        let transformer = property.transformerArgument
        let getter: AccessorDeclSyntax = "get { _$value(at: \(raw: slot)\(raw: transformer)) }"
        if property.isLet { return [getter] }
        var accessors = [getter, ObservedSetter(property: property, slot: slot).accessor]
        if let type = property.type, property.isWrittenArray, !property.hasObservers, transformer.isEmpty {
            // Appending to an array in place must not copy it.
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

/// Returns the expression for the slot in the argument of `attribute`: the number itself, or the class's first slot
/// plus the number if it is an offset.
func slotExpression(of attribute: AttributeSyntax, in context: some MacroExpansionContext) -> String? {
    guard let argument = attribute.arguments?.as(LabeledExprListSyntax.self)?.first else { return nil }
    let number = argument.expression.trimmedDescription
    if argument.label?.text == "slot" { return number }
    return enclosingClassName(in: context).map {
        "\($0.text).\(PrivateMemberNames(in: $0).firstSlot) + \(number)"
    }
}

/// Returns the name of the class that contains a property, as used in its body: the unqualified name always resolves
/// there.
func enclosingClassName(in context: some MacroExpansionContext) -> TokenSyntax? {
    context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.trimmed
}
