import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@Model` adds to a class: the object's state, the defaults of a new object, the schema and the
/// initializer for objects that come from the store.
struct ModelMembers {
    let model: ModelDeclaration

    /// `public `, `package ` or nothing.
    let access: String

    var declarations: [DeclSyntax] {
        var members = [state, address, slotCount, defaults, schemaMetadata, materializingInitializer]
        if let constants { members.append(constants) }
        if !model.hasDesignatedInitializer { members.append("init() {}") }
        return members
    }

    /// Declared first among the stored properties that have a value, so that it is set before any initializer runs.
    private var state: DeclSyntax {
        "@exclusivity(unchecked) \(raw: final)\(raw: access)var _$state = SealedData._ObjectState(\(raw: model.name).self)"
    }

    /// Written for the class itself, so that generic code gets the address by one call, whatever it does with it.
    private var address: DeclSyntax {
        """
        \(raw: final)\(raw: access)var _$address: UnsafeMutablePointer<SealedData._ObjectState> {
            withUnsafeMutablePointer(to: &_$state) { $0 }
        }
        """
    }

    /// Reading a property must not ask which class the object is of.
    private var final: String { model.isFinal ? "" : "final " }

    private var slotCount: DeclSyntax {
        "\(raw: access)static var _$slotCount: Int { \(raw: model.properties.count) }"
    }

    private var defaults: DeclSyntax {
        // A constant of its own lets each value have the type that it would have in the property's declaration.
        let lines = model.properties.enumerated().compactMap { slot, property in
            property.initialValue.map { "let _$\(slot)\($0)\n_$initialize(&_$state, \(slot), to: _$\(slot))" }
        }
        // The names in here must not hide what an initial value refers to.
        return """
            \(raw: access)static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
                \(raw: lines.joined(separator: "\n"))
            }
            """
    }

    private var schemaMetadata: DeclSyntax {
        let entries = model.properties.map(entry) + tableRules("Index") + tableRules("Unique")
        return """
            \(raw: deprecation)\(raw: access)static var schemaMetadata: [SealedData.Schema.PropertyMetadata] {
                [
                    \(raw: entries.joined(separator: ",\n"))
                ]
            }
            """
    }

    /// Only deprecated code may name deprecated properties without a warning.
    private var deprecation: String {
        let isDeprecated = model.properties.contains { property in
            property.declaration.attribute("available")?.tokens(viewMode: .sourceAccurate).contains {
                $0.tokenKind == .keyword(.deprecated)
            } ?? false
        }
        return isDeprecated ? "@available(*, deprecated)\n" : ""
    }

    private func entry(_ property: PersistedProperty) -> String {
        """
        SealedData.Schema.PropertyMetadata(
        name: "\(property.name)",
        keypath: \\\(model.name).\(property.nameInCode),
        defaultValue: \(property.initialValueAsArgument ?? "nil"),
        metadata: \(metadata(of: property))
        )
        """
    }

    /// The schema object that carries the arguments of the property's attribute, copied as they are written.
    private func metadata(of property: PersistedProperty) -> String {
        for name in ["Attribute", "Relationship"] {
            guard let attribute = property.declaration.attribute(name) else { continue }
            let arguments = attribute.arguments?.trimmedDescription ?? ""
            return "SealedData.Schema.\(name)(\(arguments))"
        }
        return "nil"
    }

    /// The entries for `#Index` and `#Unique`, which concern the table and name a key path only because an entry has
    /// to have one.
    private func tableRules(_ kind: String) -> [String] {
        model.argumentLists(ofMacro: kind).map { arguments in
            """
            SealedData.Schema.PropertyMetadata(
            name: "SealedData.Schema.\(kind)",
            keypath: \\SealedData.Schema.encodingVersion,
            defaultValue: nil,
            metadata: SealedData.Schema.\(kind)<\(model.name)>(\(arguments))
            )
            """
        }
    }

    /// A constant is stored in the object itself. It is read from the row when the object is made, and this writes it
    /// into a new object's state, which the context asks for when the object is inserted.
    private var constants: DeclSyntax? {
        let lines = model.properties.enumerated().filter(\.element.isLet).map { slot, property in
            "Self._$initialize(&_$state, \(slot), to: \(property.nameInCode))"
        }
        guard !lines.isEmpty else { return nil }
        return """
            \(raw: access)func _$recordConstants() {
                \(raw: lines.joined(separator: "\n"))
            }
            """
    }

    private var materializingInitializer: DeclSyntax {
        let assignments = model.properties.enumerated().compactMap { slot, property -> String? in
            guard property.mustBeInitialized else { return nil }
            if property.isLet { return "\(property.nameInCode) = _materializing._$value(at: \(slot))" }
            return model.startsIncomplete
                ? "\(property.initializationMarker) = SealedData._NoStorage()" : nil
        }
        return """
            \(raw: model.isFinal ? "" : "required ")\(raw: access)init(_materializing: SealedData._Materialization) {
                \(raw: assignments.joined(separator: "\n"))
            }
            """
    }
}
