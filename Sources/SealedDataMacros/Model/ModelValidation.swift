import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Everything that `@Model` refuses about a class, each with what to do about it.
struct ModelValidation<Context: MacroExpansionContext> {
    let model: ModelDeclaration
    let context: Context

    /// Reports all that is wrong at once. Whatever it is, the members should be generated: without them the compiler
    /// adds errors that hide the real ones.
    func reportProblems() {
        reportIsolation()
        reportMissingInitializer()
        ForgottenProperties(model: model, context: context).report()
        reportPatterns()
        reportConditions()
        for property in model.properties { PropertyValidation(property: property, context: context).reportProblems() }
        for variable in model.declaration.variables { reportLazy(variable) }
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
        for variable in model.declaration.variables where ModelDeclaration.isPersisted(variable) {
            if let binding = variable.bindings.first(where: { $0.nameToken == nil }) {
                context.report(
                    "tuplePattern",
                    "a persisted property can't be declared in a tuple pattern; give each property a declaration of "
                        + "its own, or mark this one @Transient",
                    at: binding.pattern
                )
            } else if variable.bindings.count > 1 {
                context.report(
                    "severalBindings",
                    "persisted properties can't share one '\(variable.bindingSpecifier.text)'; give each a "
                        + "declaration of its own",
                    at: variable,
                    fixIts: [SplitBindings.fixIt(variable, in: model.declaration)]
                )
            }
        }
    }

    /// A store that changed its layout with a compilation condition could not be opened by the other build.
    private func reportConditions() {
        for member in model.declaration.memberBlock.members {
            guard let conditional = member.decl.as(IfConfigDeclSyntax.self) else { continue }
            for variable in conditional.declarations.compactMap({ $0.as(VariableDeclSyntax.self) })
            where ModelDeclaration.isPersisted(variable) {
                context.report(
                    "conditionalProperty",
                    "a persisted property can't stand inside '#if', because the store's layout would depend on the "
                        + "build; move it out of '#if' or mark it @Transient",
                    at: variable
                )
            }
        }
    }

    /// The schema holds key paths to every property, and nothing may form one to another isolation domain.
    private func reportIsolation() {
        let globalActor = model.declaration.attributes.first { element in
            guard case .attribute(let attribute) = element else { return false }
            let name = attribute.attributeName.trimmedDescription
            return name.hasSuffix("Actor") && !name.hasSuffix("ModelActor")
        }
        guard let globalActor else { return }
        var attributes = model.declaration.attributes
        if let index = attributes.index(of: globalActor) { attributes.remove(at: index) }
        context.report(
            "isolatedModel",
            "'@Model' can't be combined with '\(globalActor.trimmedDescription)': a model belongs to its context, "
                + "wherever that is used; remove the actor and isolate the code that uses '\(model.name)'",
            at: globalActor,
            fixIts: [
                .replacing(
                    "removeActor",
                    "remove '\(globalActor.trimmedDescription)'",
                    model.declaration.attributes,
                    with: attributes
                )
            ]
        )
    }

    /// A lazy property derives its value from others; whoever wants it stored has to say how.
    private func reportLazy(_ variable: VariableDeclSyntax) {
        guard variable.hasModifier(.lazy), variable.attribute("Transient") == nil else { return }
        context.report(
            "lazyProperty",
            "a lazy property isn't persisted; mark it @Transient, or remove 'lazy' to persist it",
            at: variable,
            fixIts: [AddTransient.fixIt(variable)]
        )
    }
}
