import SwiftSyntax
import SwiftSyntaxMacros

/// The error for a macro on a kind of type that it cannot work with.
enum WrongKindOfType {
    /// Reports that `macro` cannot be applied to `declaration` and offers to replace its keyword.
    static func report(
        _ declaration: Syntax,
        macro: String,
        replacement: String,
        in context: some MacroExpansionContext
    ) {
        guard let (kind, keyword, name) = describe(declaration) else {
            context.report("wrongKindOfType", "'@\(macro)' cannot be applied to this declaration", at: declaration)
            return
        }
        let replaced = TokenSyntax.identifier(replacement)
            .with(\.leadingTrivia, keyword.leadingTrivia)
            .with(\.trailingTrivia, keyword.trailingTrivia)
        context.report(
            "wrongKindOfType",
            "'@\(macro)' cannot be applied to \(kind) type '\(name)'; declare it as '\(replacement)'",
            at: keyword,
            fixIts: [
                .replacing(
                    "replaceKeyword",
                    "replace '\(keyword.text)' by '\(replacement)'",
                    keyword,
                    with: replaced
                )
            ]
        )
    }

    private static func describe(_ declaration: Syntax) -> (kind: String, keyword: TokenSyntax, name: String)? {
        if let type = declaration.as(StructDeclSyntax.self) {
            return ("struct", type.structKeyword, type.name.text)
        }
        if let type = declaration.as(ActorDeclSyntax.self) {
            return ("actor", type.actorKeyword, type.name.text)
        }
        if let type = declaration.as(EnumDeclSyntax.self) {
            return ("enum", type.enumKeyword, type.name.text)
        }
        if let type = declaration.as(ClassDeclSyntax.self) {
            return ("class", type.classKeyword, type.name.text)
        }
        return nil
    }
}
