import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// The data that an import keeps until its end, in an encrypted file under a random key: the keys of identifiers, and
/// the members of to-many relationships. Memory does not grow with the number of objects.
final class IdentifierTable {
    /// A member of a to-many relationship, by keys.
    struct Member {
        let relationship: Int
        let owner: Int64
        let member: Int64
    }

    private let file: NewFile
    private let database: Database

    /// - Parameter url: The store that is imported into; the file lies beside it.
    init(beside url: URL) throws {
        file = try NewFile(beside: url)
        var generator = SystemRandomNumberGenerator()
        let key = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        database = try Database(
            .file(file.temporaryPath),
            key: .raw(key),
            options: Database.Options(readerCount: 1)
        ) { connection in
            // A column without a type keeps the number 1 and the text "1" apart.
            try connection.execute(
                """
                CREATE TABLE ids (space INTEGER, id, key INTEGER, state INTEGER, PRIMARY KEY (space, id)) WITHOUT ROWID;
                CREATE TABLE members (relationship INTEGER, owner INTEGER, position INTEGER, number INTEGER, \
                member INTEGER, PRIMARY KEY (relationship, owner, position, number)) WITHOUT ROWID;
                CREATE TABLE replaced (relationship INTEGER, owner INTEGER, PRIMARY KEY (relationship, owner)) \
                WITHOUT ROWID;
                CREATE TABLE updated (root INTEGER, key INTEGER, PRIMARY KEY (root, key)) WITHOUT ROWID;
                CREATE TABLE destinations (relationship INTEGER, owner INTEGER, isSet INTEGER, \
                PRIMARY KEY (relationship, owner)) WITHOUT ROWID
                """
            )
        }
    }

    /// Removes the file.
    func close() { try? database.close() }

    deinit { close() }

    /// Runs `body` in one transaction.
    func transaction<R>(_ body: (Records) throws -> R) throws -> R {
        try database.write { try body(Records($0)) }
    }

    /// The state of an identifier.
    enum State: Int64 {
        /// The source has referred to it.
        case referenced = 0
        /// The object was inserted.
        case inserted = 1
        /// The object is in the store, or will be inserted.
        case identified = 2
        /// The object is in the store, and was updated or will be.
        case existing = 3
    }

    /// The records, within a transaction.
    final class Records {
        private let connection: Connection
        private var memberNumber: Int64 = 0
        /// Whether the members of an existing object are replaced.
        private(set) var replacesMembers = false

        init(_ connection: Connection) {
            self.connection = connection
        }

        /// The key and state of an identifier; nil if it is not known.
        func find(_ id: ImportedID) throws -> (key: Int64, state: State)? {
            try connection.withStatement("SELECT key, state FROM ids WHERE space = ? AND id = ?") { query in
                try query.bind(Int64(id.space), at: 1)
                try query.bind(id.value, at: 2)
                guard try query.step() else { return nil }
                return (query.integer(at: 0), State(rawValue: query.integer(at: 1)) ?? .referenced)
            }
        }

        /// Sets the key and state of an identifier.
        func set(_ id: ImportedID, key: Int64, _ state: State) throws {
            try connection.withStatement(
                """
                INSERT INTO ids VALUES (?1, ?2, ?3, ?4) \
                ON CONFLICT (space, id) DO UPDATE SET key = excluded.key, state = excluded.state
                """
            ) { statement in
                try statement.bind(Int64(id.space), at: 1)
                try statement.bind(id.value, at: 2)
                try statement.bind(key, at: 3)
                try statement.bind(state.rawValue, at: 4)
                try statement.run()
            }
        }

        /// Records a member of a to-many relationship.
        ///
        /// - Parameter position: The position among the members; members of equal position follow each other in the order
        ///   in which they are recorded.
        func add(_ member: Member, at position: Int64) throws {
            memberNumber += 1
            try connection.withStatement("INSERT INTO members VALUES (?, ?, ?, ?, ?)") { statement in
                try statement.bind(Int64(member.relationship), at: 1)
                try statement.bind(member.owner, at: 2)
                try statement.bind(position, at: 3)
                try statement.bind(memberNumber, at: 4)
                try statement.bind(member.member, at: 5)
                try statement.run()
            }
        }

        /// Records that the members of an existing object are replaced.
        func replace(_ relationship: Int, of owner: Int64) throws {
            replacesMembers = true
            try connection.withStatement("INSERT OR IGNORE INTO replaced VALUES (?, ?)") { statement in
                try statement.bind(Int64(relationship), at: 1)
                try statement.bind(owner, at: 2)
                try statement.run()
            }
        }

        /// Records that an object of the source updates an object of the store. Returns false if another object does
        /// already.
        func update(_ key: Int64, of root: Int) throws -> Bool {
            try connection.withStatement("INSERT OR IGNORE INTO updated VALUES (?, ?)") { statement in
                try statement.bind(Int64(root), at: 1)
                try statement.bind(key, at: 2)
                try statement.run()
                return connection.changes == 1
            }
        }

        /// Records that the source gives the to-one relationship of an object a destination, or nil.
        func noteDestination(of relationship: Int, owner: Int64, isSet: Bool) throws {
            try connection.withStatement("INSERT OR REPLACE INTO destinations VALUES (?, ?, ?)") { statement in
                try statement.bind(Int64(relationship), at: 1)
                try statement.bind(owner, at: 2)
                try statement.bind(Int64(isSet ? 1 : 0), at: 3)
                try statement.run()
            }
        }

        /// Whether the source has given a to-one relationship of an object a destination.
        func hasDestination(of relationship: Int, owner: Int64) throws -> Bool {
            let sql = "SELECT 1 FROM destinations WHERE relationship = ? AND owner = ? AND isSet"
            return try connection.withStatement(sql) { query in
                try query.bind(Int64(relationship), at: 1)
                try query.bind(owner, at: 2)
                return try query.step()
            }
        }

        /// Calls `body` with the relationships and owners of the recorded destinations.
        func forEachDestination(_ body: (_ relationship: Int, _ owner: Int64) throws -> Void) throws {
            try connection.withStatement("SELECT relationship, owner FROM destinations") { query in
                while try query.step() { try body(Int(query.integer(at: 0)), query.integer(at: 1)) }
            }
        }

        /// Makes ``isListed(_:)`` fast. Must be called after the last member was recorded: an index from the beginning
        /// would slow the recording of each member.
        func indexMembers() throws {
            try connection.execute("CREATE INDEX IF NOT EXISTS listed ON members (relationship, owner, member)")
        }

        /// Whether the source lists a member.
        ///
        /// - Complexity: O(log *n*) in the number of recorded members.
        func isListed(_ member: Member) throws -> Bool {
            let sql = "SELECT 1 FROM members INDEXED BY listed WHERE relationship = ? AND owner = ? AND member = ?"
            return try connection.withStatement(sql) { query in
                try query.bind(Int64(member.relationship), at: 1)
                try query.bind(member.owner, at: 2)
                try query.bind(member.member, at: 3)
                return try query.step()
            }
        }

        /// Calls `body` with the relationships and owners whose members are replaced.
        func forEachReplaced(_ body: (_ relationship: Int, _ owner: Int64) throws -> Void) throws {
            try connection.withStatement("SELECT relationship, owner FROM replaced") { query in
                while try query.step() { try body(Int(query.integer(at: 0)), query.integer(at: 1)) }
            }
        }

        /// Calls `body` with the members, by relationship and owner and in their order.
        func forEachMember(_ body: (Member) throws -> Void) throws {
            try connection.withStatement(
                "SELECT relationship, owner, member FROM members ORDER BY relationship, owner, position, number"
            ) { query in
                while try query.step() {
                    try body(
                        Member(
                            relationship: Int(query.integer(at: 0)),
                            owner: query.integer(at: 1),
                            member: query.integer(at: 2)
                        )
                    )
                }
            }
        }
    }
}
