import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// The fix-it that gives each of several bindings in one `var` a separate declaration.
enum SplitBindings {
    static func fixIt(_ variable: VariableDeclSyntax, in declaration: ClassDeclSyntax) -> FixIt {
        let members = declaration.memberBlock.members
        var changed: [MemberBlockItemSyntax] = []
        for member in members {
            if member.decl.id == variable.id {
                changed += split(variable).map { MemberBlockItemSyntax(decl: $0) }
            } else {
                changed.append(member)
            }
        }
        return .replacing(
            "splitBindings",
            "declare each property separately",
            members,
            with: MemberBlockItemListSyntax(changed)
        )
    }

    private static func split(_ variable: VariableDeclSyntax) -> [VariableDeclSyntax] {
        // In `var a, b: Int` the type applies to every preceding binding with neither type nor value.
        var type: TypeAnnotationSyntax?
        var bindings: [PatternBindingSyntax] = []
        for binding in variable.bindings.reversed() {
            if let annotation = binding.typeAnnotation {
                type = annotation
            } else if binding.initializer != nil {
                type = nil
            }
            let typed = binding.typeAnnotation == nil && type != nil
            bindings.insert(
                (typed ? binding.with(\.typeAnnotation, type) : binding).with(\.trailingComma, nil).trimmed,
                at: 0
            )
        }
        let indentation = Trivia(stringLiteral: variable.leadingTrivia.indentation)
        return bindings.enumerated().map { index, binding in
            let single = variable.trimmed.with(\.bindings, PatternBindingListSyntax([binding]))
            return single.with(\.leadingTrivia, index == 0 ? variable.leadingTrivia : .newline + indentation)
        }
    }
}
