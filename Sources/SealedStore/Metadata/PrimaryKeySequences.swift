import EncryptedSQLite
import ObjectGraph
import Guarded

/// Primary keys that the store has reserved in the file and not yet assigned.
///
/// Keys are reserved in blocks, in a separate transaction, so that two processes never assign the same key; keys that
/// are left when a process ends are never used.
final class PrimaryKeySequences: Sendable {
    /// The smallest number of keys that are reserved at once. Each reservation of a process for the same entity is four
    /// times as large as the last one, up to ``largestBlock``.
    static let blockSize = 64
    private static let largestBlock = 4096

    /// The rest of the reservations, at the position of the root entity; shorter than the list of entities at first.
    private let supplies = Guarded<[Supply]>([])

    /// The reserved and not yet assigned keys of one root entity.
    private struct Supply {
        var ranges: [Range<Int64>] = []
        /// The number of keys that the next reservation takes at least.
        var nextBlock = PrimaryKeySequences.blockSize
        /// The largest key that was ever reserved; 0 before the first reservation.
        var lastKey: Int64 = 0
        /// The largest key that was reserved before the file was opened again; 0 if it was not.
        var lastKeyBefore: Int64 = 0

        /// Takes up to `count` successive keys; nil if there are none.
        mutating func take(_ count: Int) -> Range<Int64>? {
            guard let range = ranges.first else { return nil }
            let end = range.lowerBound + Int64(min(count, range.count))
            if end == range.upperBound { ranges.removeFirst() } else { ranges[0] = end..<range.upperBound }
            return range.lowerBound..<end
        }
    }

    private func withSupply<R>(_ rootIndex: Int, _ body: (inout Supply) -> R) -> R {
        supplies.withLock { supplies in
            while supplies.count <= rootIndex { supplies.append(Supply()) }
            return body(&supplies[rootIndex])
        }
    }

    /// Takes keys for objects of a root entity.
    ///
    /// - Parameters:
    ///   - reserve: Reserves at least a number of keys. It is called without the lock: it waits for the writer
    ///     connection, whose holder may take keys itself.
    ///   - use: Receives the keys, in their order.
    func take(
        _ count: Int,
        rootIndex: Int,
        reserve: (Int) throws -> Range<Int64>,
        _ use: (Range<Int64>) -> Void
    ) throws {
        var missing = count
        while missing > 0 {
            if let range = withSupply(rootIndex, { $0.take(missing) }) {
                missing -= range.count
                use(range)
            } else {
                try fillSupply(rootIndex, missing, reserve)
            }
        }
    }

    /// Reserves keys.
    private func fillSupply(_ rootIndex: Int, _ missing: Int, _ reserve: (Int) throws -> Range<Int64>) throws {
        let (last, block) = withSupply(rootIndex) { ($0.lastKeyBefore, $0.nextBlock) }
        var range = try reserve(max(missing, block))
        // The file is a copy from an earlier time, whose sequence would return the same keys again.
        if range.lowerBound <= last {
            let (sum, overflow) = Int(last - range.lowerBound).addingReportingOverflow(Self.blockSize + missing)
            range = try reserve(overflow ? .max : sum)
        }
        let new = max(range.lowerBound, min(last + 1, range.upperBound))..<range.upperBound
        withSupply(rootIndex) { supply in
            if !new.isEmpty { supply.ranges.append(new) }
            supply.lastKey = max(supply.lastKey, new.upperBound - 1)
            supply.nextBlock = min(4 * supply.nextBlock, Self.largestBlock)
        }
    }

    /// Discards the keys that are reserved and not assigned: the file was opened again, and may be a copy from an
    /// earlier time, which does not have the reservations.
    func discardSupplies() {
        supplies.withLock { supplies in
            supplies = supplies.map { Supply(lastKey: $0.lastKey, lastKeyBefore: $0.lastKey) }
        }
    }

    /// Whether keys were reserved that a file does not have: the file is a copy from an earlier time.
    func exceed(_ connection: Connection, _ model: ManagedObjectModel) throws -> Bool {
        let next = try Self.nextKeys(on: connection)
        return supplies.withLock { supplies in
            supplies.indices.contains { rootIndex in
                let lastKey = supplies[rootIndex].lastKey
                return lastKey > 0 && next[model.entities[rootIndex].name].map { $0 <= lastKey } ?? false
            }
        }
    }

    /// Repeats all reservations in the transaction of a connection: keys that were reserved in a transaction that was
    /// rolled back are in use nevertheless.
    func reserveAgain(for model: ManagedObjectModel, on connection: Connection) throws {
        for (rootIndex, supply) in supplies.withLock({ $0 }).enumerated() where supply.lastKey > 0 {
            try connection.withStatement(
                #"UPDATE "_sequence" SET "next" = ?1 WHERE "entity" = ?2 AND "next" < ?1"#
            ) { statement in
                try statement.bind(supply.lastKey + 1, at: 1)
                try statement.bind(text: model.entities[rootIndex].name, at: 2)
                try statement.run()
            }
        }
    }

    /// Adds the sequence of a root entity.
    ///
    /// - Parameter next: The next key.
    static func insert(_ next: Int64, ofRoot entity: String, on connection: Connection) throws {
        try connection.withStatement(#"INSERT INTO "_sequence" ("entity", "next") VALUES (?, ?)"#) { statement in
            try statement.bind(text: entity, at: 1)
            try statement.bind(next, at: 2)
            try statement.run()
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

    /// The last key that any program reserved for objects of a root entity; 0 if the store has no sequence for it.
    static func lastKey(of root: Entity, on connection: Connection) throws -> Int64 {
        try connection.withStatement(#"SELECT "next" FROM "_sequence" WHERE "entity" = ?"#) { statement in
            try statement.bind(text: root.name, at: 1)
            return try statement.step() ? statement.integer(at: 0) &- 1 : 0
        }
    }

    /// The sum of the next keys of all root entities.
    static func total(on connection: Connection) throws -> Double {
        try connection.withStatement(#"SELECT total("next") FROM "_sequence""#) { statement in
            try statement.step() ? statement.real(at: 0) : 0
        }
    }

    /// Reserves keys in the transaction of a connection.
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

extension PrimaryKeySequences: StoreFeature {
    static let tables = [
        SystemTable(
            name: "_sequence",
            creation: """
                CREATE TABLE "_sequence" ("entity" TEXT PRIMARY KEY NOT NULL, "next" INTEGER NOT NULL) STRICT, \
                WITHOUT ROWID
                """,
            isInEveryStore: true,
            ownsName: true
        )
    ]

    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws {
        try connection.execute(#"DELETE FROM "_sequence""#)
        for (entity, next) in plan.nextKeys.sorted(by: { $0.key < $1.key }) {
            try insert(next, ofRoot: entity, on: connection)
        }
    }
}
