import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor a separate context on a container, and an executor on which the context is used.
enum ModelActorMacro: MemberMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let declaration = declaration.as(ActorDeclSyntax.self) else {
            WrongKindOfType.report(Syntax(declaration), macro: "ModelActor", replacement: "actor", in: context)
            return []
        }
        let access = memberAccess(of: declaration)
        return [
            "\(raw: access)nonisolated let modelExecutor: any SealedData.ModelExecutor",
            "\(raw: access)nonisolated let modelContainer: SealedData.ModelContainer",
            """
            \(raw: access)init(modelContainer: SealedData.ModelContainer) {
                let modelContext = SealedData.ModelContext(modelContainer)
                self.modelExecutor = SealedData.DefaultSerialModelExecutor(modelContext: modelContext)
                self.modelContainer = modelContainer
            }
            """,
        ]
    }

    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
        let conformance: DeclSyntax = "extension \(type.trimmed): SealedData.ModelActor {}"
        return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }

    private static func memberAccess(of declaration: ActorDeclSyntax) -> String {
        for modifier in declaration.modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            default: continue
            }
        }
        return ""
    }
}
