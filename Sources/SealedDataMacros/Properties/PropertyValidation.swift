import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The checks of a single persisted property.
struct PropertyValidation<Context: MacroExpansionContext> {
    let property: PersistedProperty
    /// Whether the language mode accepts accessors on constants.
    let acceptsAccessorsOnConstants: Bool
    let context: Context

    func reportProblems() {
        reportName()
        reportReferenceOwnership()
        reportFixedConstant()
        reportTransformedConstant()
        reportWrapper()
        reportType()
        reportObservers()
        reportAnnotations()
    }

    private func reportName() {
        guard ["self", "Type"].contains(property.name) else { return }
        context.report(
            "nameWithoutKeyPath",
            "a persisted property can't be named '\(property.name)', because Swift has no key path to it; rename the "
                + "property",
            at: property.binding.pattern
        )
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

    /// A constant with an initial value can only read the value of its row through an accessor, which the Swift 6 mode
    /// does not accept on a constant.
    private func reportFixedConstant() {
        guard property.isLet, property.binding.initializer != nil, !acceptsAccessorsOnConstants else { return }
        reportConstant(
            "constantWithValue",
            "'\(property.name)' is a constant with an initial value and can't take the value from the store"
        )
    }

    /// Constants are read with their object: a value that the transformer does not restore would make the object
    /// unreadable.
    private func reportTransformedConstant() {
        guard property.isLet, !property.transformerArgument.isEmpty, property.binding.initializer == nil,
            let type = property.type, !type.hasSuffix("?"), !type.hasPrefix("Optional<")
        else { return }
        reportConstant(
            "transformedConstant",
            "'\(property.name)' is a constant with a value transformer and has no value if the transformer does not "
                + "restore it"
        )
    }

    /// Reports that a constant must be a variable or transient.
    private func reportConstant(_ id: String, _ problem: String) {
        let specifier = property.declaration.bindingSpecifier
        let isPrivate =
            property.declaration.hasModifier(.private) || property.declaration.hasModifier(.fileprivate)
        let variable = TokenSyntax.identifier(isPrivate ? "var" : "private(set) var")
            .with(\.leadingTrivia, specifier.leadingTrivia)
            .with(\.trailingTrivia, specifier.trailingTrivia)
        context.report(
            id,
            "\(problem); declare it as 'private(set) var', or mark it @Transient",
            at: specifier,
            fixIts: [
                .replacing("useVariable", "replace 'let' by '\(variable.text)'", specifier, with: variable),
                AddTransient.fixIt(property.declaration),
            ]
        )
    }

    private func reportWrapper() {
        guard let attribute = PropertyWrapperAttribute.first(of: property.attributes) else { return }
        context.report(
            "propertyWrapper",
            "the property wrapper '@\(attribute.attributeName.trimmedDescription)' can't be used on a persisted property; "
                + "mark the property @Transient and persist the wrapped value in another one, or use 'didSet'",
            at: attribute,
            fixIts: [AddTransient.fixIt(property.declaration)]
        )
    }

    private func reportType() {
        // A value transformer can store values of any type.
        guard property.transformerArgument.isEmpty, let type = property.binding.typeAnnotation?.type,
            let problem = UnstorableType(in: type)
        else { return }
        context.report(
            "unstorableType",
            problem.message,
            at: type,
            fixIts: [AddTransient.fixIt(property.declaration)]
        )
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
        guard let relationship = property.attributes.first(named: "Relationship") else { return }
        if let type = property.binding.typeAnnotation?.type, PlainValueType.isValue(type) {
            context.report(
                "relationshipToValue",
                "@Relationship needs a model or an array of models, not '\(type.trimmedDescription)'; remove it",
                at: type
            )
        }
        guard property.attributes.first(named: "Attribute") != nil else { return }
        context.report(
            "attributeAndRelationship",
            "'\(property.name)' can't be an attribute and a relationship; remove one of @Attribute and @Relationship",
            at: relationship
        )
    }
}

/// The attribute of a property wrapper. A wrapper stores the value itself, which is impossible for a persisted
/// property.
enum PropertyWrapperAttribute {
    /// Returns the first attribute with the name of a well-known wrapper, whose diagnostic contains a remedy. A macro
    /// sees names only, and an attribute from another package may be a macro. The compiler reports all remaining
    /// wrappers on a property with accessors.
    static func first(of attributes: ActiveAttributes) -> AttributeSyntax? {
        attributes.elements.first { attribute in
            let name =
                attribute.attributeName.as(MemberTypeSyntax.self)?.name
                ?? attribute.attributeName
                .as(IdentifierTypeSyntax.self)?.name
            return name.map { wellKnown.contains($0.text) } ?? false
        }
    }

    /// The property wrappers of Combine, SwiftUI, AppIntents and SwiftData.
    private static let wellKnown: Set<String> = [
        "AccessibilityFocusState", "AppStorage", "Bindable", "Binding", "Environment", "EnvironmentObject",
        "FetchRequest", "FocusState", "FocusedBinding", "FocusedValue", "GestureState", "Namespace",
        "NSApplicationDelegateAdaptor", "ObservedObject", "Parameter", "Published", "Query", "ScaledMetric",
        "SceneStorage", "SectionedFetchRequest", "State", "StateObject", "UIApplicationDelegateAdaptor",
        "WKApplicationDelegateAdaptor", "WKExtensionDelegateAdaptor",
    ]
}

/// The fix-it that excludes a property from the store.
enum AddTransient {
    static func fixIt(_ variable: VariableDeclSyntax) -> FixIt {
        let attribute = AttributeSyntax("@Transient").with(\.trailingTrivia, .space)
            .with(\.leadingTrivia, variable.leadingTrivia)
        var changed = variable.with(\.leadingTrivia, [])
        changed.attributes.insert(.attribute(attribute), at: changed.attributes.startIndex)
        return .replacing("addTransient", "mark it @Transient", variable, with: changed)
    }
}
