import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax

/// The declarations of a class's body that the build compiles.
struct ActiveMembers {
    private(set) var declarations: [DeclSyntax] = []

    /// The `#if` blocks whose active clause is unknown: the build configuration is unavailable, or cannot evaluate the
    /// condition. Macros cannot evaluate `canImport`, for example.
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
            guard let configuration else {
                undecidedConditions.append(condition)
                continue
            }
            let (clause, diagnostics) = condition.activeClause(in: configuration)
            if diagnostics.contains(where: { $0.diagMessage.severity == .error }) {
                undecidedConditions.append(condition)
            } else if case .decls(let active) = clause?.elements {
                add(active, configuration)
            }
        }
    }
}
