import EncryptedSQLite
import ObjectGraph

extension Int64 {
    /// Whether this can be the key of an object. The largest integer cannot: the end of a range of keys, which follows
    /// the last key, is an integer, too.
    @inline(__always)
    var isPrimaryKey: Bool { self > 0 && self < .max }
}

extension Statement {
    /// The keys of an entity's objects, in the first column of the remaining rows.
    ///
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` for a number that cannot be a key; `DatabaseError`,
    ///   also for keys that are not in the order of the statement.
    borrowing func primaryKeys(of entity: Entity, _ order: KeyOrder) throws -> [Int64] {
        var keys: [Int64] = []
        var walk = KeyWalk(order)
        while try step() {
            let key = integer(at: 0)
            guard key.isPrimaryKey else { throw SealedStoreError.damagedRow(entity: entity.name, property: "_id") }
            try walk.visit(key, of: self)
            keys.append(key)
        }
        return keys
    }
}
