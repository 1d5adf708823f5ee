import EncryptedSQLite
import ObjectGraph

/// The statements that delete rows of an entity. Their first parameters are the keys.
struct DeletionStatements: Sendable {
    /// Deletes the rows that have a version, which is the parameter after the keys; null matches any version.
    let delete: SQLText
    /// Counts the rows that ``delete`` deletes.
    let count: SQLText
    /// The rows, as a table with a condition on the keys.
    let rows: String
    /// Selects the keys of the rows that still exist.
    let remaining: SQLText
    /// The statements for the to-one relationships of other rows to the deleted rows.
    let keyReferences: [ReferenceStatements]
    /// The statements for the pairs of join tables with the deleted rows.
    let pairs: [ReferenceStatements]

    init(_ entity: Entity, _ schema: StoreSchema, _ form: KeyGroup.Form) {
        let version = "?\(form.parameterCount + 1)"
        let rows = #"\#(schema.table(of: entity).name) WHERE \#(form.condition(#""_id""#))"#
        self.rows = rows
        remaining = SQLText(#"SELECT "_id" FROM \#(rows) ORDER BY "_id""#)
        let unchanged = "\(rows) AND (\(version) IS NULL OR \(VersionWord.condition(version)))"
        delete = SQLText("DELETE FROM \(unchanged)")
        count = SQLText("SELECT count(*) FROM \(unchanged)")
        var keyReferences: [ReferenceStatements] = []
        var pairs: [ReferenceStatements] = []
        for relationship in schema.model.relationships {
            switch relationship.placement {
            case .sourceKey where relationship.destination.rootIndex == entity.rootIndex:
                keyReferences.append(ReferenceStatements(toDestinationOf: relationship, schema, form))
            case .joinTable(isCanonical: true):
                if relationship.source.rootIndex == entity.rootIndex {
                    pairs.append(ReferenceStatements(pairsAlong: relationship, nil, schema, form))
                }
                if relationship.destination.rootIndex == entity.rootIndex {
                    pairs.append(ReferenceStatements(pairsAlong: relationship.inverse, relationship, schema, form))
                }
            default: continue
            }
        }
        self.keyReferences = keyReferences
        self.pairs = pairs
    }
}

/// The statements for the references of other rows, in one column, to rows that a save has deleted.
struct ReferenceStatements: Sendable {
    /// The relationship of the deleted objects; nil if there is only the opposite direction.
    let rule: Relationship?
    /// The relationship of the remaining objects; nil if there is only the opposite direction.
    let reference: Relationship?
    /// Selects the references that may not be cleared: the keys of the remaining and of the deleted object.
    let finding: SQLText?
    /// Clears the references; nil if they are required. If the references are keys, it raises the versions of the rows,
    /// and returns their keys.
    let clearing: SQLText?
    /// For a file with a history, selects the keys of the remaining objects and of the deleted objects; nil if the
    /// remaining objects have no property that changes.
    let recorded: SQLText?
    /// Whether the references are pairs of a join table.
    let isOfPairs: Bool

    /// The keys in the rows of a to-one relationship's sources.
    fileprivate init(toDestinationOf relationship: Relationship, _ schema: StoreSchema, _ form: KeyGroup.Form) {
        rule = relationship.inverse
        reference = relationship
        let column = schema.keyColumn(of: relationship).name
        let table = schema.table(of: relationship.source).name
        isOfPairs = false
        let found = #"SELECT "_id", \#(column) FROM \#(table) WHERE \#(form.condition(column))"#
        finding = relationship.isClearedWithDestination ? nil : SQLText(found)
        recorded = relationship.isOptional ? SQLText(found) : nil
        clearing =
            relationship.isOptional
            ? SQLText(schema.clearing(relationship, where: form.condition(column))) : nil
    }

    /// The pairs of a join table. No delete rule selects pairs of two deleted objects.
    ///
    /// - Parameters:
    ///   - rule: The relationship from the deleted objects to the other objects; nil if no such relationship exists.
    ///   - reference: The relationship from the other objects to the deleted objects; nil for the inverse of `rule`.
    fileprivate init(
        pairsAlong rule: Relationship?,
        _ reference: Relationship?,
        _ schema: StoreSchema,
        _ form: KeyGroup.Form
    ) {
        self.rule = rule
        self.reference = reference ?? rule?.inverse
        // The deleted objects own the pairs of `rule`, and are the members of the pairs of `reference`. A relationship
        // that is its own inverse has both kinds of pairs, in one table.
        guard let pairs = (reference ?? rule).flatMap({ schema.joinTables[$0.index] }) else {
            preconditionFailure("a relationship without a key has a join table")
        }
        let (table, own, other) =
            reference == nil ? (pairs.name, pairs.owner, pairs.member) : (pairs.name, pairs.member, pairs.owner)
        clearing = SQLText("DELETE FROM \(table) WHERE \(form.condition(own))")
        isOfPairs = true
        recorded = SQLText("SELECT \(other), \(own) FROM \(table) WHERE \(form.condition(own))")
        guard let rule, !rule.dropsPairsOfDeleted else {
            finding = nil
            return
        }
        finding = SQLText(
            """
            SELECT p.\(other), p.\(own) FROM \(table) AS p WHERE \(form.condition("p.\(own)")) \
            AND EXISTS (SELECT 1 FROM \(schema.table(of: rule.destination).name) AS d WHERE d."_id" = p.\(other))
            """
        )
    }
}

extension StoreSchema {
    /// The statement that clears the key of a to-one relationship in some rows. It raises their versions, and returns
    /// their keys.
    func clearing(_ relationship: Relationship, where condition: String) -> String {
        let table = table(of: relationship.source).name
        let column = keyColumn(of: relationship).name
        let version = VersionWord.increment(writing: [])
        return #"UPDATE \#(table) SET \#(column) = NULL, \#(version) WHERE \#(condition) RETURNING "_id""#
    }
}
