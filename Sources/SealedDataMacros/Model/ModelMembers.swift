import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@Model` adds to a class: the object's state, the defaults of a new object, the schema and the
/// initializer for fetched objects.
///
/// The class may be isolated to a global actor: its declaration or one of its protocols names the actor, or the module
/// isolates its classes by default. A macro sees only an actor in the declaration. The model protocol is not isolated,
/// and a store makes and saves objects on the thread of their context:
///
/// - The members that satisfy the protocol are `nonisolated`. The state is `nonisolated(unsafe)`: it belongs to the
///   isolation domain of the context, as every object does.
/// - Only code with the isolation of the class may form key paths to its properties, because applying a key path
///   accesses the property. Forming a key path accesses nothing: members with the isolation of the class form the key
///   paths, and members that satisfy the protocol call them through `_unisolated`. The initial values of the properties
///   are not isolated either. ``ModelDeclaration/isolation`` describes generic classes.
struct ModelMembers {
    let model: ModelDeclaration

    /// `public `, `package ` or empty.
    let access: String

    /// The access modifier of members that subclasses override: `open ` if the class is open.
    let overridableAccess: String

    /// The name of the class in the previous schema; nil if the declaration has none.
    let originalName: ExprSyntax?

    /// Whether the class inherits from a model class.
    let isSubclass: Bool

    /// Whether the class declares `==` for two of its objects.
    let declaresEquality: Bool

    var names: PrivateMemberNames { model.privateNames }

    var declarations: [DeclSyntax] { isSubclass ? membersOfSubclass : membersOfTopmostClass }

    /// The members of a class that inherits from no model class.
    private var membersOfTopmostClass: [DeclSyntax] {
        var members = state + [slotCount, defaults] + schemaMetadata(beginning: typeMember)
        if !model.isFinal { members += [stateClass] + keyPaths }
        if declaresEquality { members.append(equality) }
        if let completion { members.append(completion) }
        return members + initializers
    }

    // MARK: State

    /// The state is the first stored property with a value, so that it is set before any initializer runs. For code
    /// that is checked for strict memory safety, it is safe: one thread at a time uses an object.
    private var state: [DeclSyntax] {
        let property = model.mayHaveSuperclass ? names.initial : "_$state"
        let stored: DeclSyntax =
            """
            @safe @exclusivity(unchecked) nonisolated(unsafe) \
            \(raw: model.mayHaveSuperclass ? "private " : final + access)\
            var \(raw: property) = SealedData._ObjectState(\(raw: model.name).self)
            """
        // Generated in the class itself, so that generic code gets the address by one call.
        let address: DeclSyntax =
            """
            @safe nonisolated \(raw: final)\(raw: access)\
            var _$address: Swift.UnsafeMutablePointer<SealedData._ObjectState> {
                unsafe Swift.withUnsafeMutablePointer(to: &\(raw: property)) { unsafe $0 }
            }
            """
        guard model.mayHaveSuperclass else { return [stored, address] }
        let firstSlot: DeclSyntax = "nonisolated private static var \(raw: names.firstSlot): Swift.Int { 0 }"
        let state: DeclSyntax =
            """
            nonisolated \(raw: final)\(raw: access)var _$state: SealedData._ObjectState {
                _read { yield \(raw: names.initial) }
                _modify { yield &\(raw: names.initial) }
            }
            """
        return [stored, state, address, firstSlot]
    }

    /// Reading a property must not use dynamic dispatch.
    private var final: String { model.isFinal ? "" : "final " }

    private var slotCount: DeclSyntax {
        "\(raw: inlinable)\(raw: typeMember)var _$slotCount: Swift.Int { \(raw: model.properties.count) }"
    }

    private var defaults: DeclSyntax {
        // Local names must not shadow names in the initial values.
        """
        nonisolated \(raw: access)static func _$applyDefaults(to _$state: inout SealedData._ObjectState) {
            \(raw: initialValues.joined(separator: "\n"))
        }
        """
    }

    /// The statements that give the properties their initial values.
    var initialValues: [String] {
        // A separate constant gives each value the type that it has in the property's declaration.
        model.properties.enumerated().compactMap { offset, property in
            property.initialValue.map { initialValue in
                let assignment = initialization(of: property, offset, to: "_$\(offset)")
                return "let _$\(offset)\(initialValue)\n\(assignment)"
            }
        }
    }

    /// Returns the statement that gives the property at a position in the class its first value.
    private func initialization(of property: PersistedProperty, _ offset: Int, to value: String) -> String {
        let arguments = "&_$state, \(slot(offset)), to: \(value)\(property.transformerArgument)"
        return "\(model.name)._$initialize(\(arguments))"
    }

    /// Returns the slot of the property at a position in the class.
    func slot(_ offset: Int) -> String {
        model.mayHaveSuperclass ? "\(model.name).\(names.firstSlot) + \(offset)" : "\(offset)"
    }

    /// Inlining lets other modules use the slots as constants.
    var inlinable: String { overridableAccess == "public " || overridableAccess == "open " ? "@inlinable " : "" }

    /// The modifiers of a type member that subclasses override.
    private var typeMember: String {
        "nonisolated " + (model.isFinal ? "\(access)static " : "\(overridableAccess)class ")
    }

    // MARK: Schema

    /// Returns the schema of the class's own properties: the requirement of the protocol, and the isolated function that
    /// it calls, if it needs one.
    ///
    /// - Parameter modifiers: The modifiers of the requirement.
    func schemaMetadata(beginning modifiers: String) -> [DeclSyntax] {
        let rules = tableRules("Index") + tableRules("Unique") + renaming
        let entries = (model.properties.map(entry) + rules).joined(separator: ",\n")
        let body = "[\n\(entries)\n]"
        let requirement = "\(deprecation)\(modifiers)var schemaMetadata: [SealedData.Schema.PropertyMetadata]"
        guard model.formsKeyPathsInIsolation else { return ["\(raw: requirement) {\n\(raw: body)\n}"] }
        return [
            """
            \(raw: deprecation)\(raw: model.isolation)private static func \(raw: names.ownMetadata)() -> [SealedData.Schema.PropertyMetadata] {
                \(raw: body)
            }
            """,
            """
            \(raw: requirement) {
                SealedData._unisolated(\(raw: names.ownMetadata))
            }
            """,
        ]
    }

    /// Only deprecated code may name deprecated properties without a warning.
    var deprecation: String {
        let isDeprecated = model.properties.contains { property in
            property.attributes.elements.contains { attribute in
                attribute.isNamed("available")
                    && attribute.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.deprecated) }
            }
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

    /// Returns the schema object with the arguments of the property's attribute, copied verbatim.
    private func metadata(of property: PersistedProperty) -> String {
        for name in ["Attribute", "Relationship"] {
            guard let attribute = property.attributes.first(named: name) else { continue }
            let arguments = attribute.arguments?.trimmedDescription ?? ""
            return "SealedData.Schema.\(name)(\(arguments))"
        }
        return "nil"
    }

    /// Returns the entries for `#Index` and `#Unique`. They describe the table; their key path is only a required
    /// argument.
    private func tableRules(_ kind: String) -> [String] {
        model.argumentLists(ofMacro: kind).map { rule(kind, $0) }
    }

    private var renaming: [String] {
        originalName.map { [rule("_OriginalName", $0.description)] } ?? []
    }

    /// Returns a declaration that is about the class. Its key path names no property of the class.
    private func rule(_ kind: String, _ arguments: String) -> String {
        """
        SealedData.Schema.PropertyMetadata(
        name: "SealedData.Schema.\(kind)",
        keypath: \\SealedData.Schema.encodingVersion,
        defaultValue: nil,
        metadata: SealedData.Schema.\(kind)<\(model.name)>(\(arguments))
        )
        """
    }

    // MARK: Objects

    /// Lets the class's own `==` satisfy `Equatable`. For a conformance in the expansion of a macro, the compiler finds
    /// the operators of the class twice and would refuse them as ambiguous.
    private var equality: DeclSyntax {
        """
        @_implements(Swift.Equatable, ==(_:_:)) nonisolated \(raw: access)static func _$isEqual(
            _ left: \(raw: model.name), _ right: \(raw: model.name)
        ) -> Swift.Bool {
            left == right
        }
        """
    }

    /// The statements that write constants into the state of a new object when it is inserted. A constant without an
    /// initial value is stored in the object itself, and read from the row when the object is made.
    var constants: [String] {
        model.properties.enumerated().filter { $1.isLet && $1.mustBeInitialized }.map { offset, property in
            initialization(of: property, offset, to: "self.\(property.nameInCode)")
        }
    }

    private var completion: DeclSyntax? {
        if model.isFinal && constants.isEmpty { return nil }
        return """
            nonisolated \(raw: model.isFinal ? access : overridableAccess)func _$completeState() {
                \(raw: constants.joined(separator: "\n"))
            }
            """
    }

    private var initializers: [DeclSyntax] {
        if model.hasDesignatedInitializer { return [materializingInitializer] }
        // The superclass, if the class has one, may have an `init()`, which the class inherits unless it declares a
        // designated initializer. An inherited or implicit `init()` has the isolation of the class.
        if model.mayHaveSuperclass && model.isFinal {
            return [
                "\(raw: model.isolation)private static func _$initialized() -> \(raw: model.name) { \(raw: model.name)() }",
                """
                nonisolated \(raw: access)convenience init(_materializing: SealedData._Materialization) {
                    self.init(_$replacedBy: SealedData._unisolated(\(raw: model.name)._$initialized))
                }
                """,
            ]
        }
        return [materializingInitializer, "init() {}"]
    }

    private var materializingInitializer: DeclSyntax {
        let statements = materializedValues + (model.isFinal ? [] : ["_materializing.verify(_$address)"])
        return """
            nonisolated \(raw: model.isFinal ? "" : "required ")\(raw: access)init(_materializing: SealedData._Materialization) {
                \(raw: statements.joined(separator: "\n"))
            }
            """
    }

    /// The statements that initialize the properties without initial values.
    var materializedValues: [String] {
        model.properties.enumerated().compactMap { offset, property in
            guard property.mustBeInitialized else { return nil }
            if property.isLet {
                let place = slot(offset) + property.transformerArgument
                return "self.\(property.nameInCode) = _materializing._$value(at: \(place))"
            }
            return model.startsIncomplete
                ? "\(property.initializationMarker) = SealedData._NoStorage()" : nil
        }
    }
}
