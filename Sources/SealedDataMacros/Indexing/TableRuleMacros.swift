import SwiftSyntax
import SwiftSyntaxMacros

/// `#Index`: expands to nothing. `@Model` copies its arguments into the schema; the macro's declaration makes the
/// compiler check them.
enum IndexMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        reportProblems(of: node, in: context)
        return []
    }
}

/// `#Unique`: like ``IndexMacro``, for unique combinations of values.
enum UniqueMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        reportProblems(of: node, in: context)
        return []
    }
}

private func reportProblems(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
) {
    for argument in node.arguments where argument.expression.as(ArrayExprSyntax.self)?.elements.isEmpty == true {
        context.report(
            "emptyTableRule",
            "'#\(node.macroName.text)' needs at least one property in each list; remove the empty list",
            at: argument.expression
        )
    }
    let type = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
    if type?.mayBeModel == true { return }
    context.report(
        "tableRuleOutsideModel",
        "'#\(node.macroName.text)' is only valid in the body of a class with @Model",
        at: node
    )
}
