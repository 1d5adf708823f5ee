import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: turns a class into an entity whose stored properties live in a row of the store.
///
/// The roles share no state; each of them reads the class anew. Only the member role reports what is wrong with the
/// class, so that nothing is said twice.
enum ModelMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else {
            WrongKindOfType.report(Syntax(declaration), macro: "Model", replacement: "final class", in: context)
            return []
        }
        let model = ModelDeclaration(declaration)
        let validation = ModelValidation(model: model, context: context)
        validation.reportProblems()
        guard validation.isRoot(conformingTo: protocols) else { return [] }
        return ModelMembers(model: model, access: model.memberAccess(in: context)).declarations
    }
}

extension ModelMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let declaration = declaration.as(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
            // Swift lets no accessor near a constant: it stays stored, and ModelMembers sees to it.
            ModelDeclaration.isPersisted(variable), !variable.isLet, variable.attribute("_PersistedProperty") == nil,
            PropertyWrapperAttribute.first(of: variable) == nil,
            let property = PersistedProperty(variable)
        else { return [] }
        let model = ModelDeclaration(declaration)
        guard let slot = model.slot(of: property) else { return [] }
        // The order matters, and the compiler turns it round: see InitializedPropertyMacro.
        var attributes: [AttributeSyntax] = ["@SealedData._PersistedProperty(slot: \(raw: slot))"]
        if model.startsIncomplete {
            attributes.append("@SealedData._InitializedProperty(slot: \(raw: slot))")
        }
        return attributes
    }
}

extension ModelMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else { return [] }
        // An extension is available no earlier than the type that it extends.
        let availability = declaration.attributes.compactMap { element -> String? in
            guard case .attribute(let attribute) = element,
                attribute.attributeName.trimmedDescription == "available"
            else { return nil }
            return "\(attribute.trimmedDescription)\n"
        }.joined()
        var extensions: [DeclSyntax] = []
        if protocols.contains(where: { $0.trimmedDescription.hasSuffix("PersistentModel") }) {
            extensions.append(
                "\(raw: availability)extension \(type.trimmed): nonisolated SealedData.PersistentModel {}"
            )
        }
        if protocols.contains(where: { $0.trimmedDescription.hasSuffix("Sendable") }) {
            extensions.append(
                """
                \(raw: availability)@available(*, unavailable, message: "\(raw: sendableMessage)")
                extension \(type.trimmed): Sendable {}
                """
            )
        }
        return extensions.compactMap { $0.as(ExtensionDeclSyntax.self) }
    }

    private static let sendableMessage =
        "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, "
        + "for example in a ModelActor."
}
