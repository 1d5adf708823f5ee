import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

/// The source of a class with `@Model`.
///
/// The declarations and attributes in a `#if` block are included if the block's condition is true. If the compiler does
/// not pass its build configuration, the conditions are undecided: ``ModelValidation`` refuses persisted properties,
/// attributes of this package, `#Index` and `#Unique` there.
struct ModelDeclaration {
    let declaration: ClassDeclSyntax

    /// The declarations of the body, including the declarations of active `#if` clauses.
    let members: [DeclSyntax]

    /// The `#if` blocks of the body whose active clause is unknown.
    let undecidedConditions: [IfConfigDeclSyntax]

    /// The conditions of the build; nil if the compiler does not pass them.
    private let configuration: (any BuildConfiguration)?

    /// Whether the compiler accepts accessors on a constant, which the Swift 5 mode does with a warning.
    let acceptsAccessorsOnConstants: Bool

    /// Whether the class or a type around it has generic parameters.
    private let isGeneric: Bool

    /// The persisted properties in source order; a property's slot is its index.
    let properties: [PersistedProperty]

    init(_ declaration: ClassDeclSyntax, in context: some MacroExpansionContext) {
        self.declaration = declaration
        let configuration = context.buildConfiguration
        self.configuration = configuration
        let body = ActiveMembers(of: declaration.memberBlock.members, in: configuration)
        members = body.declarations
        undecidedConditions = body.undecidedConditions
        isGeneric = ([Syntax(declaration)] + context.lexicalContext).contains {
            $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
        }
        acceptsAccessorsOnConstants = configuration.map { $0.languageVersion < VersionTuple(6) } ?? false
        properties = members.compactMap { $0.as(VariableDeclSyntax.self) }
            .filter { Self.isPersisted($0, in: configuration) }
            .compactMap { PersistedProperty($0, in: configuration) }
    }

    /// The variables that the class declares.
    var variables: [VariableDeclSyntax] { members.compactMap { $0.as(VariableDeclSyntax.self) } }

    /// The attributes of the class.
    var attributes: ActiveAttributes { ActiveAttributes(of: declaration.attributes, in: configuration) }

    /// Whether key paths to the properties are formed in an isolated function, to which other functions get a
    /// reference.
    ///
    /// The compiler takes a reference to a function of a generic class for concurrent use of the generic arguments, and
    /// warns of it, unless the function is isolated. A generic class without an actor, and without a type that may have
    /// one, forms the key paths in place.
    var formsKeyPathsInIsolation: Bool { !isGeneric || namesGlobalActor || mayInheritIsolation }

    /// The attribute, with a trailing space, of the functions that form key paths and objects; empty if they have the
    /// isolation of the class.
    ///
    /// The isolation of a generic class that names no actor is unknown. Functions of the main actor may form the key
    /// paths of both a class of the main actor and a class without isolation.
    var isolation: String { isGeneric && !namesGlobalActor ? "@_Concurrency.MainActor " : "" }

    /// Whether an attribute of the class is a global actor. A macro sees names only; the name of a global actor is
    /// assumed to end with `Actor`.
    private var namesGlobalActor: Bool {
        attributes.elements.contains { $0.attributeName.trimmedDescription.hasSuffix("Actor") }
    }

    /// The name of the class inside its body, with backticks if needed.
    var name: String { declaration.name.trimmed.text }

    /// The names of the private members that the macro adds.
    var privateNames: PrivateMemberNames { PrivateMemberNames(in: declaration.name) }

    var isFinal: Bool {
        declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
    }

    /// Whether a variable of a model class is stored in its row: a stored instance property that is neither
    /// `@Transient` nor ephemeral. A lazy property is derived and not stored in the row. An overriding property with
    /// observers is stored by the superclass.
    func isPersisted(_ variable: VariableDeclSyntax) -> Bool {
        Self.isPersisted(variable, in: configuration)
    }

    private static func isPersisted(
        _ variable: VariableDeclSyntax,
        in configuration: (any BuildConfiguration)?
    ) -> Bool {
        guard variable.isStored, !variable.isOfType, !variable.hasModifier(.lazy), !variable.hasModifier(.override),
            !variable.isGenerated
        else { return false }
        let attributes = variable.activeAttributes(in: configuration)
        return attributes.first(named: "Transient") == nil && !attributes.isEphemeral
    }

    /// Returns the attributes of a variable of the class.
    func attributes(of variable: VariableDeclSyntax) -> ActiveAttributes {
        variable.activeAttributes(in: configuration)
    }

    /// The slot of a persisted property of this class, found by name.
    func slot(of property: PersistedProperty) -> Int? {
        properties.firstIndex { $0.name == property.name }
    }

    /// Whether the class declares a designated initializer. Swift adds `init()` to a class without a designated
    /// initializer, but not if a macro adds another initializer.
    var hasDesignatedInitializer: Bool {
        initializers.contains { !$0.isConvenience }
    }

    /// The initializers that the class declares, including the initializers of undecided `#if` blocks.
    var initializers: [InitializerDeclSyntax] {
        (members + undecidedConditions.flatMap(\.declarations)).compactMap { $0.as(InitializerDeclSyntax.self) }
    }

    /// The argument lists of the freestanding `#Index` or `#Unique` in the class.
    func argumentLists(ofMacro name: String) -> [String] {
        members.compactMap { member in
            guard let macro = member.as(MacroExpansionDeclSyntax.self), macro.macroName.text == name else {
                return nil
            }
            return macro.arguments.trimmedDescription
        }
    }

    /// The access modifier, with a trailing space, of the members that subclasses override. Subclasses in other modules
    /// need open members.
    func overridableAccess(in context: some MacroExpansionContext) -> String {
        let isOpen = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.open) }
        return isOpen ? "open " : memberAccess(in: context)
    }

    /// The access modifier, with a trailing space, of the members that satisfy the model protocol; empty if `internal`
    /// is sufficient.
    func memberAccess(in context: some MacroExpansionContext) -> String {
        if let access = declaration.modifiers.widestMemberAccess { return access }
        if declaration.modifiers.hasAccessLevel { return "" }
        // The members of a `public extension` are public by default.
        guard let enclosing = context.lexicalContext.first?.as(ExtensionDeclSyntax.self) else { return "" }
        return enclosing.modifiers.widestMemberAccess ?? ""
    }
}

extension InitializerDeclSyntax {
    var isConvenience: Bool {
        modifiers.contains { $0.name.tokenKind == .keyword(.convenience) }
    }
}

extension MemberBlockItemListSyntax {
    /// The declarations of the list and of every branch of its `#if` blocks.
    var flattened: [DeclSyntax] {
        flatMap { member in
            member.decl.as(IfConfigDeclSyntax.self)?.declarations ?? [member.decl]
        }
    }
}

extension IfConfigDeclSyntax {
    /// The declarations of every branch.
    var declarations: [DeclSyntax] {
        clauses.flatMap { clause -> [DeclSyntax] in
            guard case .decls(let members) = clause.elements else { return [] }
            return members.flattened
        }
    }
}

extension DeclModifierListSyntax {
    fileprivate var hasAccessLevel: Bool {
        let levels: [Keyword] = [.public, .open, .package, .internal, .fileprivate, .private]
        return contains { modifier in levels.contains { modifier.name.tokenKind == .keyword($0) } }
    }

    fileprivate var widestMemberAccess: String? {
        for modifier in self {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            default: continue
            }
        }
        return nil
    }
}
