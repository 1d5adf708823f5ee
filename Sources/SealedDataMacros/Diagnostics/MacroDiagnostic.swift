import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A diagnostic of a macro of this package: nearly always an error, always with a remedy.
struct MacroDiagnostic: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    let severity: DiagnosticSeverity

    init(_ identifier: String, _ message: String, severity: DiagnosticSeverity) {
        self.message = message
        self.diagnosticID = MessageID(domain: "SealedDataMacros", id: identifier)
        self.severity = severity
    }
}

/// The label of a fix-it.
struct MacroFixIt: FixItMessage {
    let message: String
    let fixItID: MessageID

    init(_ identifier: String, _ message: String) {
        self.message = message
        self.fixItID = MessageID(domain: "SealedDataMacros", id: identifier)
    }
}

extension MacroExpansionContext {
    /// Reports an error, or a warning, at `node`, with `fixIts`.
    func report(
        _ identifier: String,
        _ message: String,
        severity: DiagnosticSeverity = .error,
        at node: some SyntaxProtocol,
        fixIts: [FixIt] = []
    ) {
        diagnose(
            Diagnostic(
                node: Syntax(node),
                message: MacroDiagnostic(identifier, message, severity: severity),
                fixIts: fixIts
            )
        )
    }
}

extension FixIt {
    /// A fix-it that replaces one node by another.
    static func replacing(
        _ identifier: String,
        _ label: String,
        _ old: some SyntaxProtocol,
        with new: some SyntaxProtocol
    ) -> FixIt {
        FixIt(
            message: MacroFixIt(identifier, label),
            changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))]
        )
    }
}
