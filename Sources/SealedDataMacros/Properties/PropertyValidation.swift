import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// What `@Model` refuses about a single persisted property.
struct PropertyValidation<Context: MacroExpansionContext> {
    let property: PersistedProperty
    let context: Context

    func reportProblems() {
        reportReferenceOwnership()
        reportFixedConstant()
        reportWrappers()
        reportObservers()
        reportAnnotations()
    }

    private func reportReferenceOwnership() {
        let ownerships: [Keyword] = [.weak, .unowned]
        guard
            let modifier = property.declaration.modifiers.first(where: { modifier in
                ownerships.contains { modifier.name.tokenKind == .keyword($0) }
            })
        else { return }
        let remaining = property.declaration.modifiers.filter { $0.id != modifier.id }
        let changed = property.declaration.with(\.modifiers, remaining)
            .with(\.leadingTrivia, property.declaration.leadingTrivia)
        context.report(
            "ownership",
            "a persisted property can't be '\(modifier.name.text)'; models never keep each other alive, so the "
                + "modifier isn't needed",
            at: modifier,
            fixIts: [
                .replacing(
                    "removeOwnership",
                    "remove '\(modifier.name.text)'",
                    property.declaration,
                    with: changed
                )
            ]
        )
    }

    /// A constant with an initial value could never take the value that its row holds.
    private func reportFixedConstant() {
        guard property.isLet, property.binding.initializer != nil else { return }
        var variable = property.declaration
        variable.bindingSpecifier = .keyword(
            .var,
            leadingTrivia: variable.bindingSpecifier.leadingTrivia,
            trailingTrivia: variable.bindingSpecifier.trailingTrivia
        )
        context.report(
            "constantWithValue",
            "'\(property.name)' is a constant with an initial value and can't take the value from the store; declare it "
                + "as 'private(set) var', or mark it @Transient",
            at: property.declaration.bindingSpecifier,
            fixIts: [
                .replacing("useVariable", "replace 'let' by 'var'", property.declaration, with: variable),
                AddTransient.fixIt(property.declaration),
            ]
        )
    }

    /// A property wrapper keeps the value in storage of its own, which a persisted property doesn't have.
    private func reportWrappers() {
        for case .attribute(let attribute) in property.declaration.attributes {
            let name = attribute.attributeName.trimmedDescription
            guard Self.isPropertyWrapper(name) else { continue }
            context.report(
                "propertyWrapper",
                "the property wrapper '@\(name)' can't be used on a persisted property; mark the property @Transient "
                    + "and persist the wrapped value in another one, or use 'didSet'",
                at: attribute,
                fixIts: [AddTransient.fixIt(property.declaration)]
            )
        }
    }

    /// A macro sees names only. One that begins with a capital letter and is neither ours nor a global actor's is
    /// taken for a property wrapper.
    private static func isPropertyWrapper(_ name: String) -> Bool {
        let last = name.split(separator: ".").last.map(String.init) ?? name
        let ours = ["Attribute", "Relationship", "Transient", "_PersistedProperty", "_InitializedProperty"]
        guard let initial = last.first, initial.isUppercase else { return false }
        return !ours.contains(last) && !last.hasSuffix("Actor")
    }

    private func reportObservers() {
        guard let observer = property.observerInNeedOfType else { return }
        context.report(
            "observerNeedsType",
            "the observer refers to '\(property.name)', whose type isn't written; add a type annotation",
            at: observer
        )
    }

    private func reportAnnotations() {
        guard property.declaration.attribute("Attribute") != nil,
            let relationship = property.declaration.attribute("Relationship")
        else { return }
        context.report(
            "attributeAndRelationship",
            "'\(property.name)' can't be an attribute and a relationship; remove one of @Attribute and @Relationship",
            at: relationship
        )
    }
}

/// The fix-it that takes a property out of the store.
enum AddTransient {
    static func fixIt(_ variable: VariableDeclSyntax) -> FixIt {
        let attribute = AttributeSyntax("@Transient").with(\.trailingTrivia, .space)
            .with(\.leadingTrivia, variable.leadingTrivia)
        var changed = variable.with(\.leadingTrivia, [])
        changed.attributes.insert(.attribute(attribute), at: changed.attributes.startIndex)
        return .replacing("addTransient", "mark it @Transient", variable, with: changed)
    }
}
