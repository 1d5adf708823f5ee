import SwiftSyntax
import SwiftSyntaxMacros

/// `#Index`: expands to nothing. `@Model` copies its arguments into the schema; the macro's declaration makes the
/// compiler check them.
enum IndexMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        reportOutsideModel(node, in: context)
        return []
    }
}

/// `#Unique`: like ``IndexMacro``, for unique combinations of values.
enum UniqueMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        reportOutsideModel(node, in: context)
        return []
    }
}

private func reportOutsideModel(
    _ node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
) {
    let type = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
    guard type?.attributes.attribute("Model") == nil else { return }
    context.report(
        "tableRuleOutsideModel",
        "'#\(node.macroName.text)' is only valid in the body of a class with @Model",
        at: node
    )
}
