import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The diagnostics of one source and the results of its fix-its.
struct Refusal {
    /// The expansion of the source in spite of the diagnostics.
    let expansion: String

    private let source: String
    private let context: BasicMacroExpansionContext

    /// Expands the macros of a source.
    ///
    /// - Parameters:
    ///   - source: The text of the file.
    ///   - specs: The macros by their names.
    ///   - configuration: The conditions of the build; nil as from a compiler that does not pass them.
    init(of source: String, with specs: [String: MacroSpec], in configuration: (any BuildConfiguration)? = nil) {
        self.source = source
        let file: SourceFileSyntax = "\(raw: source)"
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")],
            buildConfiguration: configuration
        )
        expansion =
            file.expand(
                macroSpecs: specs,
                contextGenerator: { syntax in
                    BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
                }
            ).description
        self.context = context
    }

    var messages: [String] {
        context.diagnostics.map(\.message)
    }

    var severities: [DiagnosticSeverity] {
        context.diagnostics.map(\.diagMessage.severity)
    }

    /// The source after the first fix-it of the given label, or after the first of all.
    func source(applying label: String?) -> String? {
        let fixIts = context.diagnostics.flatMap(\.fixIts)
        guard let fixIt = fixIts.first(where: { label == nil || $0.message.message == label }) else { return nil }
        var bytes = Array(source.utf8)
        for case .replace(let old, let new) in fixIt.changes {
            let start = offset(of: old.position, in: old)
            let end = offset(of: old.endPosition, in: old)
            bytes.replaceSubrange(start..<end, with: Array(new.description.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Macros receive detached copies of the source; the context maps them to their positions.
    private func offset(of position: AbsolutePosition, in node: Syntax) -> Int {
        context.location(for: position, anchoredAt: node, fileName: "test.swift").offset
    }
}
