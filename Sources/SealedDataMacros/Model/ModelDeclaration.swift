import SwiftSyntax
import SwiftSyntaxMacros

/// A class with `@Model` on it, as far as its source shows.
///
/// What stands in `#if` blocks is not part of it: see ``ModelValidation``.
struct ModelDeclaration {
    let declaration: ClassDeclSyntax

    /// The persisted properties in source order; a property's slot is its index.
    let properties: [PersistedProperty]

    init(_ declaration: ClassDeclSyntax) {
        self.declaration = declaration
        properties = declaration.variables.filter(Self.isPersisted).compactMap(PersistedProperty.init)
    }

    /// The name by which the class calls itself, with backticks where it needs them.
    var name: String { declaration.name.trimmed.text }

    var isFinal: Bool {
        declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
    }

    /// Whether a variable of a model class is stored in its row: an instance's stored property that is not
    /// `@Transient`. A lazy one is not, because its value is derived, and one that overrides another to observe it is stored
    /// by the superclass.
    static func isPersisted(_ variable: VariableDeclSyntax) -> Bool {
        variable.isStored && !variable.isOfType && !variable.hasModifier(.lazy) && !variable.hasModifier(.override)
            && variable.attribute("Transient") == nil && !variable.isGenerated
    }

    /// The slot of a persisted property of this class, found by name.
    func slot(of property: PersistedProperty) -> Int? {
        properties.firstIndex { $0.name == property.name }
    }

    /// Whether the class declares an initializer that is not a convenience one. Swift makes `init()` for a class
    /// without one, but not when a macro adds another.
    var hasDesignatedInitializer: Bool {
        declaration.initializers.contains { !$0.isConvenience }
    }

    /// The argument lists of the freestanding `#Index` or `#Unique` in the class.
    func argumentLists(ofMacro name: String) -> [String] {
        declaration.memberBlock.members.compactMap { member in
            guard let macro = member.decl.as(MacroExpansionDeclSyntax.self), macro.macroName.text == name else {
                return nil
            }
            return macro.arguments.trimmedDescription
        }
    }

    /// The access modifier, with a space behind it, of the members that subclasses override: those in other modules need
    /// open ones.
    func overridableAccess(in context: some MacroExpansionContext) -> String {
        let isOpen = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.open) }
        return isOpen ? "open " : memberAccess(in: context)
    }

    /// The access modifier, with a space behind it, of the members that satisfy the model protocol; empty where
    /// `internal` is enough.
    func memberAccess(in context: some MacroExpansionContext) -> String {
        if let access = declaration.modifiers.widestMemberAccess { return access }
        if declaration.modifiers.hasAccessLevel { return "" }
        // The members of `public extension` are public when they say nothing else.
        guard let enclosing = context.lexicalContext.first?.as(ExtensionDeclSyntax.self) else { return "" }
        return enclosing.modifiers.widestMemberAccess ?? ""
    }
}

extension ClassDeclSyntax {
    /// The variables that stand directly in the body.
    var variables: [VariableDeclSyntax] {
        memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
    }

    /// The initializers in the body, those inside `#if` included.
    var initializers: [InitializerDeclSyntax] {
        memberBlock.members.flattened.compactMap { $0.as(InitializerDeclSyntax.self) }
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
