import EncryptedSQLite
import Testing

/// A constraint violation names table and columns, without values.
@Suite struct ConstraintViolationTests {
    let database: Database

    init() throws {
        database = try Database(.memory, key: nil) { connection in
            try connection.execute(
                """
                CREATE TABLE person (
                    _id INTEGER PRIMARY KEY,
                    "first name" TEXT NOT NULL,
                    last TEXT,
                    age INTEGER CONSTRAINT "not negative" CHECK (age >= 0),
                    UNIQUE ("first name", last)
                ) STRICT;
                CREATE UNIQUE INDEX "by lowercase" ON person (lower(last), age);
                INSERT INTO person VALUES (1, 'secret-1', 'secret-2', 3);
                """
            )
        }
    }

    private func violation(_ values: String) throws -> ConstraintViolation {
        let error = databaseError { try database.write { try $0.execute("INSERT INTO person VALUES (\(values))") } }
        guard case .constraint(let violation)? = error else {
            throw try #require(error)
        }
        #expect(!"\(violation)".contains("secret"))
        return violation
    }

    @Test func `unique columns`() throws {
        let violation = try violation("2, 'secret-1', 'secret-2', 4")
        #expect(violation.kind == .unique)
        #expect(violation.table == "person")
        #expect(violation.columns == ["first name", "last"])
        #expect(violation.description == "Values of first name, last of table person must be unique.")
    }

    @Test func `a unique index over an expression`() throws {
        let violation = try violation("2, 'other', 'SECRET-2', 3")
        #expect(violation.kind == .unique)
        #expect(violation.rule == "by lowercase")
        #expect(violation.columns == [])
    }

    @Test func `the primary key`() throws {
        let violation = try violation("1, 'other', 'other', 3")
        #expect(violation.kind == .primaryKey)
        #expect(violation.columns == ["_id"])
    }

    @Test func `a missing value`() throws {
        let violation = try violation("2, NULL, 'other', 3")
        #expect(violation.kind == .notNull)
        #expect(violation.table == "person")
        #expect(violation.columns == ["first name"])
    }

    @Test func `a named constraint`() throws {
        let violation = try violation("2, 'other', 'other', -1")
        #expect(violation.kind == .check)
        #expect(violation.rule == "not negative")
    }

    @Test func `a value of a wrong type`() throws {
        let violation = try violation("2, 'other', 'other', 'secret-3'")
        #expect(violation.kind == .dataType)
        #expect(violation.table == "person")
        #expect(violation.columns == ["age"])
    }
}
