import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The warning for an initializer that leaves a property without a value.
///
/// If properties have init accessors, the compiler reports such initializers. If initializers call the setters of a
/// complete object, it does not. A macro cannot analyze the methods that an initializer calls: an initializer that
/// calls a method or passes `self` on is assumed to be correct.
struct ForgottenProperties<Context: MacroExpansionContext> {
    let model: ModelDeclaration
    let context: Context

    func report() {
        guard !model.startsIncomplete else { return }
        let required = model.properties.filter(\.mustBeInitialized)
        for initializer in model.initializers where !initializer.isConvenience {
            let assignments = AssignedNames(in: initializer)
            for property in required where !assignments.mayInclude(property.name) {
                context.report(
                    "forgottenProperty",
                    "this initializer leaves '\(property.name)' without a value; assign it, or give its declaration an "
                        + "initial value",
                    severity: .warning,
                    at: initializer.initKeyword
                )
            }
        }
    }
}

/// The names that an initializer may assign: unqualified names, unless they are parameters, and names after `self`.
private final class AssignedNames: SyntaxVisitor {
    private let parameters: Set<String>
    private var names: Set<String> = []
    private var mayIncludeAll = false

    init(in initializer: InitializerDeclSyntax) {
        parameters = Set(
            initializer.signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).unescapedText }
        )
        super.init(viewMode: .sourceAccurate)
        if let body = initializer.body { walk(body) } else { mayIncludeAll = true }
    }

    func mayInclude(_ name: String) -> Bool { mayIncludeAll || names.contains(name) }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let member = node.parent?.as(MemberAccessExprSyntax.self)
        if node.baseName.tokenKind == .keyword(.self) {
            guard let member, !member.isCalled else {
                mayIncludeAll = true
                return .skipChildren
            }
            names.insert(member.declName.baseName.unescapedText)
        } else if member?.declName.id != node.id {
            let name = node.baseName.unescapedText
            if !parameters.contains(name) { names.insert(name) }
            if node.isCalled && name.first?.isLowercase == true { mayIncludeAll = true }
        }
        return .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        mayIncludeAll = true
        return .skipChildren
    }
}

extension ExprSyntaxProtocol {
    fileprivate var isCalled: Bool {
        parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id == id
    }
}
