import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Functions and orders of texts that a connection registers when a statement needs them.
@Suite struct FunctionLibraryTests {
    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        let library = FunctionLibrary(
            functions: [
                ScalarFunction("number_double", argumentCount: 1) { $0.set(2 * $0.integer(at: 0)) },
                ScalarFunction("number_negative", argumentCount: 1) { $0.set(-$0.integer(at: 0)) },
            ],
            aggregates: [],
            collations: [
                Collation("by_length") { left, right in left.count - right.count }
            ]
        )
        database = try openSample(folder.filePath("store"), options: sampleOptions { $0.functions = library })
        try database.write { try insert(1...10, into: $0) }
    }

    /// Counts the functions that a connection knows, with a text that contains the beginning of no name.
    private func functionCount(_ connection: Connection) throws -> Int64? {
        try connection.integer("SELECT count(*) FROM pragma_function_list WHERE substr(name, 1, 6) = 'number'")
    }

    @Test func `functions are registered with the first statement that uses one`() throws {
        let (before, double, after, negative) = try database.read { connection in
            (
                try functionCount(connection), try connection.integer("SELECT number_double(21)"),
                try functionCount(connection), try connection.integer("SELECT number_negative(1)")
            )
        }
        #expect(before == 0)
        #expect(double == 42)
        #expect(after == 2)
        #expect(negative == -1)
    }

    @Test func `a statement that is executed directly finds the functions as well`() throws {
        let key = try database.write { connection in
            try connection.execute("DELETE FROM item; INSERT INTO item VALUES (number_double(4), 'eight')")
            return try connection.integer("SELECT _id FROM item")
        }
        #expect(key == 8)
    }

    @Test func `a function that no library has is an error`() throws {
        #expect(databaseError { try database.read { try $0.integer("SELECT number_missing(1)") } } != nil)
        #expect(databaseError { try database.read { try $0.integer("SELECT missing(1)") } } != nil)
    }

    @Test func `an order of texts is registered when a statement names it`() throws {
        try database.write {
            try $0.execute("DELETE FROM item; INSERT INTO item VALUES (1, 'ccc'), (2, 'dd'), (3, 'e')")
        }
        #expect(try database.read { try $0.string("SELECT name FROM item ORDER BY name COLLATE by_length") } == "e")
        #expect(databaseError { try database.read { try $0.string("SELECT 'a' COLLATE by_chance = 'b'") } } != nil)
    }
}
