import EncryptedSQLite
import ObjectGraph

extension SaveTransaction {
    /// Checks that the destinations that the save has written exist. Keys of rows that the save itself inserts are not
    /// checked, so that the import of a whole graph needs no query.
    ///
    /// - Throws: `SaveConflict.outdated` with owners of new members that do not exist; otherwise
    ///   `SaveConflict.missingDestinations` with every reference to no object, or to an object of another entity.
    /// - Complexity: a statement for each range of keys, and for each 512 further keys.
    func requireDestinations(of request: SaveChangesRequest) throws {
        guard WrittenKeys.mayBe(in: request, store.statements) else { return }
        let written = WrittenKeys(request, store)
        var missing: [Int: Set<Int64>] = [:]
        for (entity, keys) in written.keysToFind() {
            let unknown = try missingKeys(among: keys, of: entity)
            if !unknown.isEmpty { missing[entity.index] = Set(unknown) }
        }
        guard !missing.isEmpty else { return }
        let owners = written.owners(among: missing, id)
        guard owners.isEmpty else { throw SaveConflict.outdated(owners) }
        throw SaveConflict.missingDestinations(written.references(to: missing, id))
    }

    /// The keys for which the store has no row of an entity or its subentities.
    ///
    /// - Parameter keys: Distinct keys, ascending.
    private func missingKeys(among keys: [Int64], of entity: Entity) throws -> [Int64] {
        let table = store.schema.table(of: entity).name
        let family = store.statements.selection(of: entity).familyCondition.map { " AND " + $0 } ?? ""
        var missing: [Int64] = []
        for group in KeyGroup.groups(of: keys, .reading) {
            let sql = #"SELECT t0."_id" FROM \#(table) AS t0 WHERE \#(group.condition(#"t0."_id""#))\#(family)"#
            try connection.withStatement(sql + #" ORDER BY t0."_id""#) { query in
                try group.bind(to: query)
                var position = group.keys.startIndex
                var walk = KeyWalk(group.order)
                while try query.step() {
                    let found = query.integer(at: 0)
                    try walk.visit(found, of: query)
                    while position < group.keys.endIndex, group.keys[position] < found {
                        missing.append(group.keys[position])
                        position += 1
                    }
                    position += 1
                }
                missing += group.keys.dropFirst(position - group.keys.startIndex)
            }
        }
        return missing
    }
}
