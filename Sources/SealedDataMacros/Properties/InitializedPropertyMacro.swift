import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_InitializedProperty(slot:)`: lets the initializers of the class assign a persisted property before the object is
/// complete, in any order, and lets the compiler find forgotten properties. Only classes whose objects start incomplete
/// need it: see ``ModelDeclaration/startsIncomplete``.
///
/// The accessor writes into the object's state, or into the values that a subclass adds to it, and marks the property
/// as initialized. The marker is a stored property of size zero. Its type is `_NoStorage`, which must be initialized,
/// if an initializer must give the property a value, and `()`, which need not be initialized, if the property has an
/// initial value or starts as nil.
///
/// The compiler has to expand this macro after `@_PersistedProperty`. A getter without an init accessor makes it drop
/// the property's initial value for good; with both accessors in one macro it would evaluate the initial value for
/// every fetched object. The compiler expands the last attribute of a declaration first, and reverses a list that comes
/// from a macro.
enum InitializedPropertyMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = PersistedProperty(declaration, in: context),
            let slot = slotExpression(of: node, in: context), let model = enclosingClassName(in: context)
        else { return [] }
        let marker = property.initializationMarker
        let names = PrivateMemberNames(in: model)
        let values = slot.contains(names.firstSlot) ? names.initial : "_$state"
        let arguments = "&\(values), \(slot), to: initialValue\(property.transformerArgument)"
        return [
            """
            @storageRestrictions(accesses: \(raw: values), initializes: \(raw: marker))
            init(initialValue) {
                \(raw: model.text)._$initialize(\(raw: arguments))
                \(raw: marker) = \(raw: property.mustBeInitialized ? "SealedData._NoStorage()" : "()")
            }
            """
        ]
    }

    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = PersistedProperty(declaration, in: context) else { return [] }
        let type = property.mustBeInitialized ? "SealedData._NoStorage" : "()"
        return ["private var \(raw: property.initializationMarker): \(raw: type)"]
    }
}
