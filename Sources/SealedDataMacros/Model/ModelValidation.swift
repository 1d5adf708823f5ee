import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Everything that `@Model` refuses about a class, each with what to do about it.
struct ModelValidation<Context: MacroExpansionContext> {
    let model: ModelDeclaration
    let node: AttributeSyntax
    let context: Context

    /// Reports all that is wrong; true when the members can be generated.
    func isValid(conformingTo protocols: [TypeSyntax]) -> Bool {
        // All of them run, so that one compilation shows every problem.
        let answers = [
            isRoot(conformingTo: protocols),
            hasInitializer(),
            haveSingleBindings(),
            areUnconditional(),
        ]
        for property in model.properties { PropertyValidation(property: property, context: context).reportProblems() }
        for variable in model.declaration.variables { reportLazy(variable) }
        return answers.allSatisfy(\.self)
    }

    /// A class that conforms already and does not say so itself got the conformance from a superclass.
    private func isRoot(conformingTo protocols: [TypeSyntax]) -> Bool {
        guard let inherited = model.declaration.inheritanceClause?.inheritedTypes, let superclass = inherited.first,
            !protocols.contains(where: { $0.trimmedDescription.hasSuffix("PersistentModel") }),
            !inherited.contains(where: { $0.type.trimmedDescription.hasSuffix("PersistentModel") })
        else { return true }
        context.report(
            "inheritance",
            "model inheritance isn't supported yet: '\(model.name)' inherits from the model "
                + "'\(superclass.type.trimmedDescription)'; refer to it by a relationship instead",
            at: superclass
        )
        return false
    }

    private func hasInitializer() -> Bool {
        guard !model.hasDesignatedInitializer else { return true }
        let missing = model.properties.filter(\.mustBeInitialized)
        guard !missing.isEmpty else { return true }
        context.report(
            "missingInitializer",
            "@Model requires an initializer be provided for '\(model.name)'",
            at: model.declaration.name,
            fixIts: [addingInitializer(for: missing)]
        )
        return false
    }

    private func addingInitializer(for properties: [PersistedProperty]) -> FixIt {
        let parameters = properties.map { "\($0.nameInCode): \($0.type ?? "<#Type#>")" }.joined(separator: ", ")
        let assignments = properties.map { "self.\($0.nameInCode) = \($0.nameInCode)" }
        let initializer: DeclSyntax = """


            init(\(raw: parameters)) {
                \(raw: assignments.joined(separator: "\n    "))
            }
            """
        let block = model.declaration.memberBlock
        let indented = MemberBlockItemSyntax(decl: initializer)
        return .replacing(
            "addInitializer",
            "add an initializer for the properties without a default value",
            block.members,
            with: block.members + [indented]
        )
    }

    private func haveSingleBindings() -> Bool {
        var isValid = true
        for variable in model.declaration.variables where ModelDeclaration.isPersisted(variable) {
            if let binding = variable.bindings.first(where: { $0.nameToken == nil }) {
                context.report(
                    "tuplePattern",
                    "a persisted property can't be declared in a tuple pattern; give each property a declaration of "
                        + "its own, or mark this one @Transient",
                    at: binding.pattern
                )
                isValid = false
            } else if variable.bindings.count > 1 {
                context.report(
                    "severalBindings",
                    "persisted properties can't share one '\(variable.bindingSpecifier.text)'; give each a "
                        + "declaration of its own",
                    at: variable,
                    fixIts: [SplitBindings.fixIt(variable, in: model.declaration)]
                )
                isValid = false
            }
        }
        return isValid
    }

    /// A store that changed its layout with a compilation condition could not be opened by the other build.
    private func areUnconditional() -> Bool {
        var isValid = true
        for member in model.declaration.memberBlock.members {
            guard let conditional = member.decl.as(IfConfigDeclSyntax.self) else { continue }
            let inside = MemberBlockItemListSyntax([MemberBlockItemSyntax(decl: conditional)]).flattened
            for variable in inside.compactMap({ $0.as(VariableDeclSyntax.self) })
            where ModelDeclaration.isPersisted(variable) {
                context.report(
                    "conditionalProperty",
                    "a persisted property can't stand inside '#if', because the store's layout would depend on the "
                        + "build; move it out of '#if' or mark it @Transient",
                    at: variable
                )
                isValid = false
            }
        }
        return isValid
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
