import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: turns a class into an entity whose stored properties live in a row of the store.
///
/// The roles share no state; each of them parses the class. Only the member role reports problems of the class, so that
/// each is reported once.
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
            originalName: originalName(in: node),
            isSubclass: isSubclass(declaration, conformingTo: protocols),
            declaresEquality: model.declaresEquality(in: context)
        )
        return members.declarations
    }

    /// The argument `originalName`, verbatim; nil if the attribute has none.
    private static func originalName(in node: AttributeSyntax) -> ExprSyntax? {
        guard case .argumentList(let arguments)? = node.arguments else { return nil }
        return arguments.first { $0.label?.text == "originalName" }?.expression.trimmed
    }

    /// Whether the class inherits from a model class.
    ///
    /// Only classes with this macro conform to the protocol. A class that conforms to it, but does not declare the
    /// conformance, inherits it from its superclass.
    private static func isSubclass(_ declaration: ClassDeclSyntax, conformingTo protocols: [TypeSyntax]) -> Bool {
        declaration.inheritanceClause != nil && !protocols.contains { $0.isProtocol("_InheritableModel") }
    }
}

extension TypeSyntax {
    /// Whether the type is the protocol with a name, written with or without its module.
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
            let property = PersistedProperty(variable, in: context),
            property.attributes.first(named: "_PersistedProperty") == nil,
            PropertyWrapperAttribute.first(of: property.attributes) == nil
        else { return [] }
        if property.attributes.isEphemeral && variable.isTracked { return ["@SealedData._EphemeralProperty"] }
        let model = ModelDeclaration(declaration, in: context)
        guard model.isPersisted(variable), let slot = model.slot(of: property) else { return [] }
        // A constant without an initial value remains a stored property, which ModelMembers initializes.
        if property.isLet && (property.mustBeInitialized || !model.acceptsAccessorsOnConstants) { return [] }
        let place = "\(model.mayHaveSuperclass ? "offset" : "slot"): \(slot)"
        // The order matters, and the compiler reverses it: see InitializedPropertyMacro.
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
        // An extension needs the availability of the type that it extends.
        let model = ModelDeclaration(declaration, in: context)
        let availability = model.attributes.elements.filter { $0.isNamed("available") }
            .map { "\($0.trimmedDescription)\n" }.joined()
        var extensions: [DeclSyntax] = []
        for (name, isAdopted) in [("PersistentModel", true), ("_InheritableModel", !model.isFinal)] {
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
