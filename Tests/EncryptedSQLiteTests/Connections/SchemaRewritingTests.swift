@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Columns that are added to a table by a change of its definition.
@Suite struct SchemaRewritingTests {
    private struct Refusal: Error {}

    private let folder = TemporaryFolder()
    private let database: Database
    private let other: Database

    private static let definition = #"CREATE TABLE "t" ("a" INTEGER) STRICT"#
    private static let extended = #"CREATE TABLE "t" ("a" INTEGER, "b" TEXT, "c" INTEGER DEFAULT 7) STRICT"#

    init() throws {
        let path = folder.filePath("store")
        let key = try EncryptionKey.raw(Array(repeating: 3, count: 32))
        database = try Database(.file(path), key: key)
        try database.write { try $0.execute("\(Self.definition); INSERT INTO t VALUES (1), (2)") }
        other = try Database(.file(path), key: key)
        #expect(try Self.sum(#"SELECT sum("a") FROM t"#, other) == 3)
    }

    private static func sum(_ sql: String, _ database: Database) throws -> Int64 {
        try database.read { connection in
            try connection.withStatement(sql) { try $0.step() ? $0.integer(at: 0) : -1 }
        }
    }

    /// Expects that the schema table is protected on the writer connection.
    private func expectProtection() throws {
        for sql in [
            "UPDATE sqlite_schema SET sql = sql", "DELETE FROM sqlite_schema", "PRAGMA writable_schema = ON",
            "PRAGMA schema_version = 1", "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, '')",
        ] {
            #expect(throws: DatabaseError.self, "\(sql)") { try database.write { try $0.execute(sql) } }
        }
    }

    @Test func `rows have no value, or the default value, in added columns, for all connections`() throws {
        try database.write { connection in
            try connection.replaceDefinition(ofTable: "t", with: Self.extended)
            try connection.execute("INSERT INTO t VALUES (3, 'x', 9)")
        }
        for database in [database, other] {
            #expect(try Self.sum(#"SELECT sum("c") FROM t"#, database) == 23)
            #expect(try Self.sum(#"SELECT count("b") FROM t"#, database) == 1)
        }
        try expectProtection()
        #expect(throws: DatabaseError.self) {
            try database.write { try $0.execute("INSERT INTO t VALUES (1, 2, 'x')") }
        }
        let check = try database.read { connection in
            try connection.withStatement("PRAGMA integrity_check") { try $0.step() ? $0.string(at: 0) : "" }
        }
        #expect(check == "ok")
    }

    @Test(arguments: ["CREATE TABLE nonsense (", "", "SELECT 1"])
    func `a malformed definition is an error, and the table stays as it was`(sql: String) throws {
        #expect(throws: DatabaseError.self) {
            try database.write { connection in
                try connection.replaceDefinition(ofTable: "t", with: sql)
                _ = try connection.withStatement("SELECT * FROM t") { try $0.step() }
            }
        }
        try expectProtection()
        for database in [database, other] { #expect(try Self.sum(#"SELECT sum("a") FROM t"#, database) == 3) }
    }

    @Test func `a table that is missing is an error`() throws {
        #expect(throws: DatabaseError.self) {
            try database.write { try $0.replaceDefinition(ofTable: "u", with: Self.extended) }
        }
        try expectProtection()
    }

    // this connection           | another one
    // adds columns, rolls back  |
    //                           | changes the schema as often as the rolled back transaction did
    // sees the other's schema   |
    @Test func `a rollback makes the connection read the schema again`() throws {
        #expect(throws: Refusal.self) {
            try database.write { connection in
                try connection.replaceDefinition(ofTable: "t", with: Self.extended)
                throw Refusal()
            }
        }
        try other.write { try $0.execute(#"CREATE VIEW "v" AS SELECT 1; DROP VIEW "v""#) }
        #expect(throws: DatabaseError.self) {
            try database.write { connection in
                try connection.withStatement(#"SELECT "c" FROM t"#) { _ = try $0.step() }
            }
        }
        try database.write { try $0.execute("INSERT INTO t VALUES (4)") }
        #expect(try Self.sum(#"SELECT sum("a") FROM t"#, other) == 7)
        try expectProtection()
    }
}
