import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_EphemeralProperty`: makes a property that exists in memory only observable.
///
/// The value moves to a generated stored property. The init accessor lets initializers assign the property in any
/// order, like a stored property.
enum EphemeralPropertyMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = PersistedProperty(declaration, in: context),
            let model = enclosingClassName(in: context)
        else { return [] }
        let storage = property.prefixed("_$e_")
        let keyPath = "\\\(model.text).\(property.nameInCode)"
        return [
            """
            @storageRestrictions(initializes: \(raw: storage))
            init(initialValue) {
                \(raw: storage) = initialValue
            }
            """,
            """
            get {
                access(keyPath: \(raw: keyPath))
                return \(raw: storage)
            }
            """,
            """
            set {
                withMutation(keyPath: \(raw: keyPath)) { \(raw: storage) = newValue }
            }
            """,
        ]
    }

    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = PersistedProperty(declaration, in: context) else { return [] }
        if property.mustBeInitialized {
            context.report(
                "ephemeralWithoutDefault",
                "@Attribute(.ephemeral) requires non-optional property '\(property.name)' to have a default value",
                at: property.declaration.bindings
            )
        }
        var binding = property.binding.trimmed
        binding.pattern = PatternSyntax(IdentifierPatternSyntax(identifier: .identifier(property.prefixed("_$e_"))))
        binding.accessorBlock = nil
        return ["private var \(binding)"]
    }
}
