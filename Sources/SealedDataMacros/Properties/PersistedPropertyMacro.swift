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
            let slot = slotArgument(of: node)
        else { return [] }
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

/// The text of the `slot` argument: a literal, or an expression where the slot depends on a superclass.
func slotArgument(of attribute: AttributeSyntax) -> String? {
    attribute.arguments?.as(LabeledExprListSyntax.self)?
        .first { $0.label?.text == "slot" }?
        .expression.trimmedDescription
}
