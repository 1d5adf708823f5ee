import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport

/// Three stores in memory that exchange their changes, with the mirror that only applies the log.
///
/// After each application, a store differs from the mirror only in what is pending, and a store that had nothing pending
/// has nothing pending.
final class ExchangeWorld {
    let branches: [Branch]
    let log = ChangeLog()
    private let mirror: Branch
    private var mirrored: [String: [String: String]] = [:]

    /// A violated invariant.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    init(_ declarations: [EntityDescription]) throws {
        branches = try (0..<3).map { _ in try Branch(nil, declarations: declarations) }
        mirror = try Branch(nil, declarations: declarations)
    }

    /// Appends a change set, if it is the next one, and applies it to the mirror.
    func append(_ changes: ChangeSet) throws {
        guard log.append(changes) else { return }
        let conflicts = try mirror.receive(log)
        let pending = try mirror.pendingDifferences().differences
        guard conflicts.isEmpty, pending.isEmpty else {
            let rest = pending.map { object, difference in
                "\(object) \(difference.entity.properties.filter { difference.contains($0.slot) }.map(\.name))"
            }
            throw Violation(description: "a change set is in conflict with the log: \(conflicts) \(rest)")
        }
        let problems = try mirror.store.check()
        guard problems.isEmpty else { throw Violation(description: "the mirror is unsound: \(problems)") }
        mirrored = try mirror.content()
    }

    /// Applies what the log has to a store.
    func receive(_ branch: Branch, _ policy: MergePolicy) throws {
        let (before, hasOutstanding) = try branch.pendingDifferences()
        let hadNothing = before.isEmpty && !hasOutstanding && log.changeSets.count > 0
        let position = try branch.coordinator.exchangeState().position
        try branch.receive(log, policy)
        let (pending, _) = try branch.pendingDifferences()
        if hadNothing, position > 0, !pending.isEmpty {
            throw Violation(description: "pending after nothing: \(pending.keys)")
        }
        if try branch.coordinator.exchangeState().position == 0 { return }
        let comparison = PendingComparison(
            own: try branch.content(),
            common: mirrored,
            pending: pending,
            entities: branch.coordinator.model.entitiesByName
        )
        if let problem = comparison.problem { throw Violation(description: problem) }
    }
}
