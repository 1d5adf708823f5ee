import EncryptedSQLite
import ObjectGraph

/// The rules of the model that are checked at the end of an import, in its transaction: the rules that the check of a
/// whole store checks, and the rules that saves check object by object.
///
/// The check covers all objects of the store, with one statement for each rule. An object that violated a rule before
/// the import is no problem of the import: the violations are compared with the violations before it.
struct ImportCheck {
    private let connection: Connection
    private let store: OpenStore

    /// A rule of the model that objects violate.
    private struct Violation {
        let rule: String
        let count: Int
        let description: String
    }

    init(_ connection: Connection, _ store: OpenStore) {
        self.connection = connection
        self.store = store
    }

    /// The rules that more objects violate than before the import, one line each, without a value.
    func problems() throws -> [String] {
        let violations = try violations()
        guard !violations.isEmpty, let earlier = try store.database.snapshot() else {
            return violations.map(\.description)
        }
        let known = try earlier.withConnection { try ImportCheck($0, store).violations() }
        let counts = Dictionary(known.map { ($0.rule, $0.count) }, uniquingKeysWith: max)
        return violations.filter { $0.count > counts[$0.rule] ?? 0 }.map(\.description)
    }

    private func violations() throws -> [Violation] {
        let schema = store.schema
        let content = ContentCheck(connection, schema, entityNames: store.description.entityNames)
        var problems = try content.problems().map { problem in
            Violation(
                rule: "\(problem.kind) \(problem.entity ?? "") \(problem.property ?? "")",
                count: problem.count,
                description: problem.description
            )
        }
        for relationship in schema.model.relationships where holds(relationship.source) {
            if relationship.isToMany {
                problems += try countProblems(relationship)
            } else if !relationship.isOptional {
                let table = schema.table(of: relationship.source)
                let column = schema.keyColumn(of: relationship).name
                problems += try find(
                    "no value of a required relationship",
                    relationship,
                    "SELECT count(*) FROM \(table.name) AS t0 WHERE t0.\(column) IS NULL AND \(isOfSource(relationship))"
                )
            }
        }
        return problems
    }

    private func holds(_ entity: Entity) -> Bool { store.description.entityNames?.contains(entity.name) ?? true }

    /// Checks the number of members.
    private func countProblems(_ relationship: Relationship) throws -> [Violation] {
        let (least, most) = (relationship.description.minimumCount, relationship.description.maximumCount)
        guard least > 0 || most > 0 else { return [] }
        let schema = store.schema
        let (table, owner): (String, String)
        if let pairs = schema.joinTables[relationship.index] {
            (table, owner) = (pairs.name, pairs.owner)
        } else if let inverse = relationship.inverse {
            (table, owner) = (schema.table(of: relationship.destination).name, schema.keyColumn(of: inverse).name)
        } else {
            return []
        }
        let members = #"(SELECT count(*) FROM \#(table) AS m WHERE m.\#(owner) = t0."_id")"#
        let conditions = [
            least > 0 ? "\(members) < \(least)" : nil, most > 0 ? "\(members) > \(most)" : nil,
        ]
        return try find(
            "too few or too many members",
            relationship,
            """
            SELECT count(*) FROM \(schema.table(of: relationship.source).name) AS t0 \
            WHERE \(isOfSource(relationship)) AND (\(conditions.compactMap(\.self).joined(separator: " OR ")))
            """
        )
    }

    private func find(_ text: String, _ relationship: Relationship, _ sql: String) throws -> [Violation] {
        let count = try connection.withStatement(sql) { try $0.step() ? Int($0.integer(at: 0)) : 0 }
        let rule = "\(relationship.source.name).\(relationship.name): \(text)"
        return count == 0 ? [] : [Violation(rule: rule, count: count, description: "\(rule) (\(count))")]
    }

    /// The condition that a row of the source's table is of the source or its subentities.
    private func isOfSource(_ relationship: Relationship) -> String {
        store.statements.selection(of: relationship.source).familyCondition ?? "1"
    }
}
