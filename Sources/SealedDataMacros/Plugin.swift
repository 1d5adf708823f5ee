import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plugin: the list of every macro implementation that `SealedData` declares.
@main
struct SealedDataMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self,
        PersistedPropertyMacro.self,
        InitializedPropertyMacro.self,
        EphemeralPropertyMacro.self,
        TransformablePropertyMacro.self,
        AttributeMacro.self,
        RelationshipMacro.self,
        TransientMacro.self,
        IndexMacro.self,
        UniqueMacro.self,
        ModelActorMacro.self,
    ]
}
