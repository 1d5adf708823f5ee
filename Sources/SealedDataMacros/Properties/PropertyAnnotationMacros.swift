import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Attribute`: expands to nothing. `@Model` reads its arguments; this macro checks its position.
enum AttributeMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyAnnotation(name: "Attribute", node: node).check(declaration, in: context)
        return []
    }
}

/// `@Relationship`: like ``AttributeMacro``, for references to other models.
enum RelationshipMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyAnnotation(name: "Relationship", node: node).check(declaration, in: context)
        return []
    }
}

/// `@Transient`: excludes a property from the store. A fetched object needs a value for it, so the property must have a
/// default.
enum TransientMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            context.report("annotatesNoProperty", "'@Transient' can only be applied to a property", at: node)
            return []
        }
        guard variable.isStored, !variable.isOfType else { return [] }
        for binding in variable.bindings
        where binding.initializer == nil && (!binding.isWrittenOptional || variable.isLet) {
            guard let name = binding.nameToken else { continue }
            context.report(
                "transientWithoutDefault",
                "@Transient requires non-optional property '\(name.unescapedText)' to have a default value",
                at: name
            )
        }
        return []
    }
}

/// `@_TransformablePersistedProperty`: expands to nothing. `@Model` adds the property's accessors, with the value
/// transformer that `@Attribute` names.
enum TransformablePropertyMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyAnnotation(name: "_TransformablePersistedProperty", node: node).check(declaration, in: context)
        return []
    }
}

/// The rules that `@Attribute` and `@Relationship` share.
private struct PropertyAnnotation {
    let name: String
    let node: AttributeSyntax

    func check(_ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) {
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            context.report("annotatesNoProperty", "'@\(name)' can only be applied to a property", at: node)
            return
        }
        let removal = removing(from: variable)
        if variable.isOfType {
            context.report(
                "annotatesTypeProperty",
                "'@\(name)' can't be applied to a static property, which isn't persisted; remove it",
                at: node,
                fixIts: removal
            )
        } else if !variable.isStored {
            context.report(
                "annotatesComputedProperty",
                "'@\(name)' has no effect on a computed property, which isn't persisted; remove it",
                severity: .warning,
                at: node,
                fixIts: removal
            )
        } else if variable.activeAttributes(in: context.buildConfiguration).first(named: "Transient") != nil {
            context.report(
                "annotatesTransientProperty",
                "'@\(name)' can't be applied to a @Transient property, which isn't persisted; remove one of them",
                at: node,
                fixIts: removal
            )
        } else if let type = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self),
            !type.mayBeModel
        {
            context.report(
                "annotatesOutsideModel",
                "'@\(name)' is only valid in a class with @Model; add @Model to the class or remove it",
                at: node,
                fixIts: removal
            )
        }
    }

    /// Returns the fix-it that removes the attribute; none if the attribute is in a `#if` block, because the block
    /// would be empty.
    private func removing(from variable: VariableDeclSyntax) -> [FixIt] {
        let attributes = variable.attributes.filter { element in
            guard case .attribute(let attribute) = element else { return true }
            return attribute.attributeName.trimmedDescription != node.attributeName.trimmedDescription
        }
        guard attributes.count < variable.attributes.count else { return [] }
        let changed = variable.with(\.attributes, attributes).with(\.leadingTrivia, variable.leadingTrivia)
        return [.replacing("removeAttribute", "remove '@\(name)'", variable, with: changed)]
    }
}

extension DeclGroupSyntax {
    /// Whether the declaration has the attribute `@Model`, also in a `#if` block: its branch may be active although a
    /// macro cannot evaluate the condition.
    var mayBeModel: Bool { attributes.flattened.contains { $0.isNamed("Model") } }
}
