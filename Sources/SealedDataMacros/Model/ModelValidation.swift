import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The checks of a class with `@Model`, each with a remedy.
struct ModelValidation<Context: MacroExpansionContext> {
    let model: ModelDeclaration
    let context: Context

    /// Reports all problems at once. The members should be generated in any case: without them the compiler adds errors
    /// that hide these problems.
    func reportProblems() {
        reportMissingInitializer()
        ForgottenProperties(model: model, context: context).report()
        reportPatterns()
        reportConditions()
        for property in model.properties {
            PropertyValidation(
                property: property,
                acceptsAccessorsOnConstants: model.acceptsAccessorsOnConstants,
                context: context
            )
            .reportProblems()
        }
        for variable in model.variables {
            reportLazy(variable)
            reportConditionalAttributes(of: variable)
        }
    }

    private func reportMissingInitializer() {
        guard !model.hasDesignatedInitializer else { return }
        let missing = model.properties.filter(\.mustBeInitialized)
        guard !missing.isEmpty else { return }
        context.report(
            "missingInitializer",
            "@Model requires an initializer be provided for '\(model.name)'",
            at: model.declaration.name,
            fixIts: [addingInitializer(for: missing)]
        )
    }

    private func addingInitializer(for properties: [PersistedProperty]) -> FixIt {
        let parameters = properties.map { "\($0.nameInCode): \($0.type ?? "<#Type#>")" }.joined(separator: ", ")
        let members = model.declaration.memberBlock.members
        let indentation = members.first?.leadingTrivia.indentation ?? "    "
        let lines =
            ["init(\(parameters)) {"]
            + properties.map { "    self.\($0.nameInCode) = \($0.nameInCode)" } + ["}"]
        let initializer: DeclSyntax = "\(raw: lines.joined(separator: "\n\(indentation)"))"
        let added = MemberBlockItemSyntax(
            leadingTrivia: Trivia(pieces: [.newlines(2)]) + Trivia(stringLiteral: indentation),
            decl: initializer
        )
        return .replacing(
            "addInitializer",
            "add an initializer for the properties without a default value",
            members,
            with: MemberBlockItemListSyntax(Array(members) + [added])
        )
    }

    private func reportPatterns() {
        for variable in model.variables where model.isPersisted(variable) {
            if let binding = variable.bindings.first(where: { $0.nameToken == nil }) {
                context.report(
                    "tuplePattern",
                    "a persisted property can't be declared in a tuple pattern; give each property its own declaration, "
                        + "or mark this one @Transient",
                    at: binding.pattern
                )
            } else if variable.bindings.count > 1 {
                context.report(
                    "severalBindings",
                    "persisted properties can't share one '\(variable.bindingSpecifier.text)'; give each its "
                        + "own declaration",
                    at: variable,
                    fixIts: [SplitBindings.fixIt(variable, in: model.declaration)]
                )
            }
        }
    }

    /// Reports `#if` conditions that decide on the slot of a property, the rules of the table or the options of an
    /// attribute, and whose value the macro does not know.
    private func reportConditions() {
        for conditional in model.undecidedConditions {
            for macro in conditional.declarations.compactMap({ $0.as(MacroExpansionDeclSyntax.self) })
            where ["Index", "Unique"].contains(macro.macroName.text) {
                reportCondition(of: "#\(macro.macroName.text)", macro)
            }
            for variable in conditional.declarations.compactMap({ $0.as(VariableDeclSyntax.self) })
            where model.isPersisted(variable) {
                context.report(
                    "conditionalProperty",
                    "a persisted property can't be inside this '#if', because the macro can't evaluate its condition; "
                        + "use a condition that is defined with '-D', move the property out of '#if', or mark it "
                        + "@Transient",
                    at: variable
                )
            }
        }
    }

    private func reportConditionalAttributes(of variable: VariableDeclSyntax) {
        for conditional in model.attributes(of: variable).undecidedConditions {
            for attribute in conditional.attributes {
                guard let name = ["Attribute", "Relationship", "Transient"].first(where: attribute.isNamed) else {
                    continue
                }
                reportCondition(of: "@\(name)", attribute)
            }
        }
    }

    private func reportCondition(of macro: String, _ node: some SyntaxProtocol) {
        context.report(
            "conditionalMacro",
            "'\(macro)' can't be inside this '#if', because @Model can't evaluate its condition; use a condition that is "
                + "defined with '-D', or move '\(macro)' out of '#if'",
            at: node
        )
    }

    /// A lazy property derives its value from other properties; storing it needs an explicit choice.
    private func reportLazy(_ variable: VariableDeclSyntax) {
        guard variable.hasModifier(.lazy), model.attributes(of: variable).first(named: "Transient") == nil else {
            return
        }
        context.report(
            "lazyProperty",
            "a lazy property isn't persisted; mark it @Transient, or remove 'lazy' to persist it",
            at: variable,
            fixIts: [AddTransient.fixIt(variable)]
        )
    }
}
