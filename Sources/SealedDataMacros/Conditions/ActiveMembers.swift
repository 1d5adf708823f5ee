import SwiftIfConfig
import SwiftSyntax

/// The declarations of a class's body that the build compiles.
struct ActiveMembers {
    private(set) var declarations: [DeclSyntax] = []

    /// The `#if` blocks whose active clause is unknown: see ``ActiveClause/undecided``.
    private(set) var undecidedConditions: [IfConfigDeclSyntax] = []

    init(of members: MemberBlockItemListSyntax, in configuration: (any BuildConfiguration)?) {
        add(members, configuration)
    }

    private mutating func add(_ members: MemberBlockItemListSyntax, _ configuration: (any BuildConfiguration)?) {
        for member in members {
            guard let condition = member.decl.as(IfConfigDeclSyntax.self) else {
                declarations.append(member.decl)
                continue
            }
            switch ActiveClause(of: condition, in: configuration) {
            case .undecided: undecidedConditions.append(condition)
            case .known(.decls(let active)): add(active, configuration)
            case .known: break
            }
        }
    }
}
