import EncryptedSQLite
import ObjectGraph

extension HistoryRecorder {
    /// The number of rows that are read at once.
    private static let rowsAtOnce: Int64 = 4096

    // MARK: Insertions

    /// Adds objects that a statement has inserted.
    func addInsertions(_ keys: [Range<Int64>], of entity: Entity, _ relationships: [Relationship]) throws {
        for range in keys where !range.isEmpty {
            let range = range.lowerBound...(range.upperBound - 1)
            noteInsertion(range, of: entity)
            if recordsValues {
                for first in stride(from: range.lowerBound, through: range.upperBound, by: Int(Self.rowsAtOnce)) {
                    let last = min(range.upperBound, first + Self.rowsAtOnce - 1)
                    let root = model.entities[entity.rootIndex]
                    for row in try rows(Array(first...last), of: root) { try addInsertion(of: row) }
                }
            } else {
                encoder.add(.insert, entity, keys: range)
            }
            let condition = #""_id" BETWEEN \#(range.lowerBound) AND \#(range.upperBound)"#
            for relationship in relationships { try noteOwners(along: relationship, where: condition) }
        }
    }

    /// Records the owners of the rows of a to-one relationship's sources for which a condition holds.
    func noteOwners(along relationship: Relationship, where condition: String) throws {
        guard let inverse = relationship.inverse, inverse.isToMany else { return }
        let column = store.schema.keyColumn(of: relationship).name
        let table = store.schema.table(of: relationship.source).name
        let sql = "SELECT DISTINCT \(column) FROM \(table) WHERE \(condition) AND \(column) IS NOT NULL"
        for key in try keys(sql) { note(inverse, of: key) }
    }

    private func keys(_ sql: String) throws -> [Int64] {
        try connection.withStatement(sql) { statement in
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            return keys
        }
    }

    // MARK: Updates

    /// Keeps the old values that a batch request is about to change.
    func willUpdate(_ keys: BatchKeys, of entity: Entity, _ properties: [Property]) throws {
        if recordsValues { try keepRows(try keys.keys(of: entity), of: model.entities[entity.rootIndex]) }
        try noteOwners(of: entity, properties)
    }

    /// Adds the objects that a batch request has changed.
    func didUpdate(_ keys: [Int64], of entity: Entity, _ properties: [Property]) throws {
        try noteOwners(of: entity, properties)
        var slots = SlotSet()
        for property in properties { slots.insert(property.slot) }
        for start in stride(from: 0, to: keys.count, by: Int(Self.rowsAtOnce)) {
            let part = Array(keys[start..<min(keys.count, start + Int(Self.rowsAtOnce))])
            let root = model.entities[entity.rootIndex]
            for row in try rows(part, of: root, only: recordsValues ? nil : []) { try addUpdate(of: row, slots) }
        }
    }

    private func noteOwners(of entity: Entity, _ properties: [Property]) throws {
        for case .relationship(let relationship) in properties {
            try noteOwners(along: relationship, where: #""_id" IN (\#(BatchKeys.keys(of: entity)))"#)
        }
    }

    // MARK: Deletions

    /// Adds the objects of a root entity that a batch request is about to delete, and records the changes of other
    /// objects.
    func addDeletions(_ keys: [Int64], of root: Entity) throws {
        for start in stride(from: 0, to: keys.count, by: Int(Self.rowsAtOnce)) {
            let part = Array(keys[start..<min(keys.count, start + Int(Self.rowsAtOnce))])
            try willDelete(part, of: root)
            for row in try rows(part, of: root, only: []) {
                try addDeletion(of: row.key, model.entities[row.entityIndex])
            }
            forgetRows(of: root)
        }
    }

    /// Records the objects that lose deleted members along join tables.
    ///
    /// - Parameters:
    ///   - own: The column of the deleted objects.
    ///   - other: The column of the other objects.
    ///   - reference: The relationship of the other objects to the deleted objects; nil if there is none.
    func willDeletePairs(of table: String, own: String, other: String, _ reference: Relationship?, _ keys: String)
        throws
    {
        guard let reference else { return }
        try connection.withStatement("SELECT \(other), \(own) FROM \(table) WHERE \(own) IN (\(keys))") { statement in
            while try statement.step() {
                noteLoss(of: statement.integer(at: 1), reference, from: statement.integer(at: 0))
            }
        }
    }

    // MARK: Erasure

    /// Adds all objects of root entities, which are about to be deleted.
    func addErasure(of roots: [Entity]) throws {
        for root in roots {
            var last: Int64 = 0
            while true {
                let sql = """
                    SELECT "_id" FROM \(store.schema.table(of: root).name) WHERE "_id" > \(last) \
                    ORDER BY "_id" LIMIT \(Self.rowsAtOnce)
                    """
                let part = try connection.withUncachedStatement(sql) {
                    try $0.primaryKeys(of: root, .ascending(after: last))
                }
                guard let end = part.last else { break }
                try addDeletions(part, of: root)
                last = end
            }
        }
    }
}
