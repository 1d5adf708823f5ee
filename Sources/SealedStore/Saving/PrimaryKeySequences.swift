import EncryptedSQLite
import ObjectGraph
import Guarded

/// Primary keys that the store has reserved in the file and not given out yet.
///
/// Keys are reserved in blocks, in a transaction of their own, so that two processes never give out the same one; what a
/// process has left when it ends is never used.
final class PrimaryKeySequences: Sendable {
    /// How many keys are reserved at least.
    static let blockSize = 64

    private let reserved = Guarded<[Int: Range<Int64>]>([:])

    /// Takes keys for objects of a root entity; `reserve` gets more, as many as it is asked for at least.
    func take(_ count: Int, rootIndex: Int, reserve: (Int) throws -> Range<Int64>) throws -> [Int64] {
        try reserved.withLock { reserved in
            var keys: [Int64] = []
            var range = reserved[rootIndex] ?? 0..<0
            while keys.count < count {
                if range.isEmpty { range = try reserve(max(count - keys.count, Self.blockSize)) }
                let taken = range.prefix(count - keys.count)
                keys += taken
                range = range.dropFirst(taken.count)
            }
            reserved[rootIndex] = range
            return keys
        }
    }

    /// The next key of each root entity, by name.
    static func nextKeys(on connection: Connection) throws -> [String: Int64] {
        try connection.withStatement(#"SELECT "entity", "next" FROM "_sequence""#) { statement in
            var keys: [String: Int64] = [:]
            while try statement.step() { keys[statement.string(at: 0)] = statement.integer(at: 1) }
            return keys
        }
    }

    /// Reserves keys in the file, in a transaction of its own.
    static func reserve(_ count: Int, of root: Entity, _ database: Database) throws -> Range<Int64> {
        try database.write { try reserve(count, of: root, on: $0) }
    }

    /// Reserves keys in the transaction that a connection is in, for rows of the same transaction.
    static func reserve(_ count: Int, of root: Entity, on connection: Connection) throws -> Range<Int64> {
        let sql = """
            UPDATE "_sequence" SET "next" = "next" + ?1 \
            WHERE "entity" = ?2 AND "next" BETWEEN 1 AND 9223372036854775807 - ?1 RETURNING "next"
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(Int64(count), at: 1)
            try statement.bind(text: root.name, at: 2)
            guard try statement.step() else {
                throw SealedStoreError.damagedMetadata("the sequence of '\(root.name)'")
            }
            let next = statement.integer(at: 0)
            guard next > Int64(count) else {
                throw SealedStoreError.damagedMetadata("the sequence of '\(root.name)'")
            }
            while try statement.step() {}
            return (next - Int64(count))..<next
        }
    }
}
