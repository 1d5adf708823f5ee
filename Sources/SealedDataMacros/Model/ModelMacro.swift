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
        let model = ModelDeclaration(declaration, in: context)
        let validation = ModelValidation(model: model, context: context)
        validation.reportProblems()
        let members = ModelMembers(
            model: model,
            access: model.memberAccess(in: context),
            overridableAccess: model.overridableAccess(in: context),
            isSubclass: isSubclass(declaration, conformingTo: protocols)
        )
        return members.declarations
    }

    /// Whether the class inherits from a model class.
    ///
    /// Only those that are written by this macro conform to the protocol. A class that conforms already, and adopts it
    /// nowhere itself, got the conformance from its superclass.
    private static func isSubclass(_ declaration: ClassDeclSyntax, conformingTo protocols: [TypeSyntax]) -> Bool {
        declaration.inheritanceClause != nil && !protocols.contains { $0.isProtocol("_InheritableModel") }
    }
}

extension TypeSyntax {
    /// Whether the type is the protocol of a name, written with or without the module in front.
    fileprivate func isProtocol(_ name: String) -> Bool {
        trimmedDescription == name || trimmedDescription == "SealedData.\(name)"
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
            variable.attribute("_PersistedProperty") == nil, PropertyWrapperAttribute.first(of: variable) == nil,
            let property = PersistedProperty(variable)
        else { return [] }
        if variable.isEphemeral && variable.isTracked { return ["@SealedData._EphemeralProperty"] }
        guard ModelDeclaration.isPersisted(variable) else { return [] }
        let model = ModelDeclaration(declaration, in: context)
        guard let slot = model.slot(of: property) else { return [] }
        // A constant without an initial value stays stored, and ModelMembers gives it its value.
        if property.isLet && (property.mustBeInitialized || !model.acceptsAccessorsOnConstants) { return [] }
        let place = "\(model.mayHaveSuperclass ? "offset" : "slot"): \(slot)"
        // The order matters, and the compiler turns it round: see InitializedPropertyMacro.
        var attributes: [AttributeSyntax] = ["@SealedData._PersistedProperty(\(raw: place))"]
        if model.startsIncomplete && !property.isLet {
            attributes.append("@SealedData._InitializedProperty(\(raw: place))")
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
        let isFinal = ModelDeclaration(declaration, in: context).isFinal
        for (name, isAdopted) in [("PersistentModel", true), ("_InheritableModel", !isFinal)] {
            guard isAdopted, protocols.contains(where: { $0.isProtocol(name) }) else { continue }
            extensions.append(
                "\(raw: availability)extension \(type.trimmed): nonisolated SealedData.\(raw: name) {}"
            )
        }
        if protocols.contains(where: { $0.trimmedDescription.hasSuffix("Sendable") }) {
            extensions.append(
                """
                \(raw: availability)@available(*, unavailable, message: "\(raw: sendableMessage)")
                extension \(type.trimmed): Swift.Sendable {}
                """
            )
        }
        return extensions.compactMap { $0.as(ExtensionDeclSyntax.self) }
    }

    private static let sendableMessage =
        "A model belongs to its context. Pass its persistentModelID to the other isolation domain and fetch it there, "
        + "for example in a ModelActor."
}
