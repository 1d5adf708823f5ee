import EncryptedSQLite
import ObjectGraph

/// The check that unique texts are different in Swift's comparison, too.
///
/// A unique index compares the bytes of texts. If all texts of a column are in normalization form C, texts that are
/// equal in Swift have equal bytes. In a column with texts in other forms, see ``TextForms``, the rows that a
/// transaction has written are compared with all other rows in Swift's order.
struct UniqueTexts {
    private let connection: Connection
    private let state: FileState
    /// The schema in the state of the transaction.
    private var schema: StoreSchema { state.schema }

    /// - Precondition: The transaction has recorded the forms of the texts that it wrote.
    init(_ connection: Connection, _ store: OpenStore) throws {
        self.connection = connection
        state = try store.states.state(on: connection)
    }

    private var isNeeded: Bool { !state.schema.conditions.columnsOfMixedForms.isEmpty }

    /// The number of rows from which one sort of the table replaces one scan for each row.
    private static let smallestSort = 8

    /// A constraint on a table with texts in several forms.
    private struct Constraint {
        let entity: Entity
        let slots: [Int]
        let table: String
        let columns: [(name: String, isMixed: Bool)]
        /// The conditions under which a row belongs to an entity with the constraint.
        let conditions: (_ row: String) -> [String]

        var properties: [String] { slots.map { entity.properties[$0].name } }

        func column(_ index: Int, of row: String) -> String {
            let name = "\(row).\(columns[index].name)"
            return columns[index].isMixed ? QueryGenerator.collated(name) : name
        }
    }

    /// Checks the rows that a save wrote.
    ///
    /// - Throws: `SaveConflict.notUnique`.
    func require(_ request: SaveChangesRequest) throws {
        guard isNeeded else { return }
        for constraint in constraints {
            var keys = Self.keys(of: request.inserted, where: { isConstrained($0, by: constraint) })
            var position = 0
            for chunk in request.updated.chunks {
                for index in 0..<chunk.rowCount {
                    defer { position += 1 }
                    guard position < request.updates.count,
                        constraint.slots.contains(where: { request.updates[position].slots.contains($0) }),
                        isConstrained(chunk.row(at: index), by: constraint)
                    else { continue }
                    keys.append(chunk.row(at: index).key)
                }
            }
            try require(keys, constraint)
        }
    }

    /// Checks rows of an entity.
    ///
    /// - Throws: `SaveConflict.notUnique`.
    func require(_ keys: @autoclosure () -> [Int64], of entity: Entity) throws {
        guard isNeeded else { return }
        for constraint in constraints where constraint.entity.rootIndex == entity.rootIndex {
            try require(keys(), constraint)
        }
    }

    /// Checks the rows of an entity with keys in a range, of which there may be any number.
    ///
    /// - Throws: `SaveConflict.notUnique`.
    func require(_ keys: ClosedRange<Int64>, of entity: Entity) throws {
        guard isNeeded else { return }
        for constraint in constraints where constraint.entity.rootIndex == entity.rootIndex {
            let isWritten = #"a."_id" BETWEEN ?1 AND ?2"#
            guard try areRepeated(constraint, isWritten, [.integer(keys.lowerBound), .integer(keys.upperBound)]) else {
                continue
            }
            throw Self.conflict(constraint)
        }
    }

    private static func conflict(_ constraint: Constraint) -> SaveConflict {
        .notUnique(entity: constraint.entity.name, properties: constraint.properties)
    }

    private func isConstrained(_ row: Row, by constraint: Constraint) -> Bool {
        schema.model.entities[row.entityIndex].isKind(of: constraint.entity)
    }

    private static func keys(of rows: RowBatch, where condition: (Row) -> Bool) -> [Int64] {
        rows.chunks.flatMap { chunk in
            (0..<chunk.rowCount).map { chunk.row(at: $0) }.filter(condition).map(\.key)
        }
    }

    private var constraints: [Constraint] {
        schema.model.entities.flatMap { entity in
            entity.uniquenessConstraints.compactMap { slots -> Constraint? in
                // The constraints of the superentity include it.
                guard !(entity.superentity?.uniquenessConstraints.contains(slots) ?? false) else { return nil }
                let table = schema.table(of: entity)
                let names = slots.map { entity.properties[$0].name }
                guard let indexed = IndexedTable(entity, table, names) else { return nil }
                let columns = indexed.columns.map { column in
                    (name: column.name, isMixed: schema.conditions.areFormsMixed(in: column, of: table))
                }
                guard columns.contains(where: { $0.isMixed }) else { return nil }
                return Constraint(
                    entity: entity,
                    slots: slots,
                    table: table.name,
                    columns: columns,
                    conditions: indexed.conditions
                )
            }
        }
    }

    private func require(_ keys: [Int64], _ constraint: Constraint) throws {
        guard !keys.isEmpty else { return }
        let isFound: Bool
        if keys.count < Self.smallestSort {
            isFound = try keys.contains { try isRepeated($0, constraint) }
        } else {
            let isWritten = #"a."_id" IN (SELECT value FROM json_each(?1))"#
            isFound = try areRepeated(constraint, isWritten, [.text(ElementList.text(keys.map(Value.integer)))])
        }
        guard isFound else { return }
        throw Self.conflict(constraint)
    }

    /// Whether another row has the values of a row.
    private func isRepeated(_ key: Int64, _ constraint: Constraint) throws -> Bool {
        let equalities = constraint.columns.indices.map {
            "\(constraint.column($0, of: "b")) = a.\(constraint.columns[$0].name)"
        }
        let conditions = constraint.conditions("a") + constraint.conditions("b") + equalities
        let sql = """
            SELECT 1 FROM \(constraint.table) AS a JOIN \(constraint.table) AS b ON b."_id" <> a."_id" \
            WHERE a."_id" = ? AND \(conditions.joined(separator: " AND ")) LIMIT 1
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key, at: 1)
            return try statement.step()
        }
    }

    /// Whether several rows have the same values, and a condition holds for one of them.
    private func areRepeated(_ constraint: Constraint, _ condition: String, _ parameters: [Value]) throws -> Bool {
        let columns = constraint.columns.indices.map { constraint.column($0, of: "a") }
        let conditions = constraint.conditions("a") + constraint.columns.map { "a.\($0.name) IS NOT NULL" }
        let sql = """
            SELECT 1 FROM \(constraint.table) AS a WHERE \(conditions.joined(separator: " AND ")) \
            GROUP BY \(columns.joined(separator: ", ")) \
            HAVING count(*) > 1 AND max(\(condition)) LIMIT 1
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(parameters)
            return try statement.step()
        }
    }
}
