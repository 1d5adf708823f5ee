import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxBuilder

/// The clause of a `#if` block that the build compiles.
enum ActiveClause {
    /// The elements of the active clause; nil if the block has no active clause.
    case known(IfConfigClauseSyntax.Elements?)

    /// The build configuration is unavailable, or cannot evaluate the condition. Macros cannot evaluate `canImport` of
    /// most modules, for example.
    case undecided

    init(of condition: IfConfigDeclSyntax, in configuration: (any BuildConfiguration)?) {
        guard let configuration else {
            self = .undecided
            return
        }
        let decided = KnownImports().visit(condition).cast(IfConfigDeclSyntax.self)
        let (clause, diagnostics) = decided.activeClause(in: configuration)
        if diagnostics.contains(where: { $0.diagMessage.severity == .error }) {
            self = .undecided
            return
        }
        // Diagnostics need the positions of the original clause.
        let original = zip(decided.clauses, condition.clauses).first { $0.0.id == clause?.id }?.1
        self = .known(original?.elements)
    }
}

/// Replaces `canImport` by `true` for the modules that every program with an expanded macro can import: `SealedData`,
/// which declares the macros, and the modules that it exports.
private final class KnownImports: SyntaxRewriter {
    private static let modules: Set<String> = ["SealedData", "Foundation", "Observation", "Swift"]

    override func visit(_ node: IfConfigClauseSyntax) -> IfConfigClauseSyntax {
        // A nested block is evaluated on its own, if its clause is active.
        node.with(\.condition, node.condition.map { visit($0) })
    }

    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
        guard node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text == "canImport",
            node.arguments.count == 1, let argument = node.arguments.first, argument.label == nil,
            let module = argument.expression.as(DeclReferenceExprSyntax.self),
            Self.modules.contains(module.baseName.text)
        else { return ExprSyntax(node) }
        return ExprSyntax(
            BooleanLiteralExprSyntax(true).with(\.leadingTrivia, node.leadingTrivia)
                .with(\.trailingTrivia, node.trailingTrivia)
        )
    }
}
