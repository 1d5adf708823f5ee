import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// The macros by their names in source code.
enum Specs {
    static let model: [String: MacroSpec] = [
        "Model": MacroSpec(
            type: ModelMacro.self,
            conformances: ["PersistentModel", "_InheritableModel", "Sendable"]
        )
    ]
    /// `@Model` on a class that inherits from a model class and so conforms already.
    static let modelSubclass: [String: MacroSpec] = ["Model": MacroSpec(type: ModelMacro.self, conformances: [])]
    static let properties: [String: MacroSpec] = [
        "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
        "_InitializedProperty": MacroSpec(type: InitializedPropertyMacro.self),
        "_EphemeralProperty": MacroSpec(type: EphemeralPropertyMacro.self),
    ]
    static let annotations: [String: MacroSpec] = [
        "Attribute": MacroSpec(type: AttributeMacro.self),
        "Relationship": MacroSpec(type: RelationshipMacro.self),
        "Transient": MacroSpec(type: TransientMacro.self),
        "Index": MacroSpec(type: IndexMacro.self),
        "Unique": MacroSpec(type: UniqueMacro.self),
    ]
    static let modelActor: [String: MacroSpec] = [
        "ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"])
    ]
}

/// Expects that `source` expands to `expansion` without a diagnostic.
func expect(
    _ source: String,
    expandsTo expansion: String,
    with specs: [String: MacroSpec],
    at location: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expansion,
        macroSpecs: specs,
        failureHandler: { Issue.record("\($0.message)", sourceLocation: location) }
    )
}

/// Expects the messages of `diagnostics` in their order and, if `fixed` is given, that the fix-it with the given label
/// produces it. The expansion of the refused source is not checked.
func expect(
    _ source: String,
    isRefusedWith diagnostics: [String],
    applying fixIt: String? = nil,
    leadsTo fixed: String? = nil,
    with specs: [String: MacroSpec],
    at location: Testing.SourceLocation = #_sourceLocation
) {
    let outcome = Refusal(of: source, with: specs)
    #expect(outcome.messages == diagnostics, sourceLocation: location)
    guard let fixed else { return }
    #expect(outcome.source(applying: fixIt) == fixed, sourceLocation: location)
}
