import EncryptedSQLite
import TestSupport
import Testing

/// The settings of every connection, which no statement can change.
@Suite struct ConnectionSettingsTests {
    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"))
    }

    @Test(
        arguments: [
            ("temp_store", 2), ("synchronous", 1), ("foreign_keys", 0), ("recursive_triggers", 0),
            ("trusted_schema", 0),
            ("cell_size_check", 1), ("cache_size", -Int64(Database.Options.suitableCacheKilobytes)),
        ] as [(String, Int64)]
    )
    func `settings of readers and writer`(_ name: String, _ value: Int64) throws {
        #expect(try database.read { try $0.integer("PRAGMA \(name)") } == value)
        #expect(try database.write { try $0.integer("PRAGMA \(name)") } == value)
    }

    @Test func `readers cannot write`() throws {
        #expect(try database.read { try $0.integer("PRAGMA query_only") } == 1)
        #expect(databaseError { try database.read { try $0.execute("DELETE FROM item") } } == .readOnly)
    }

    @Test(
        arguments: [
            "PRAGMA temp_store = FILE", "PRAGMA temp_store(1)", "PRAGMA main.temp_store = 0",
            "PRAGMA temp_store_directory = '/tmp'", "PRAGMA query_only = OFF", "PRAGMA key = 'x'", "PRAGMA rekey = 'x'",
            "PRAGMA hexkey = '00'", "PRAGMA hexrekey = '00'", "PRAGMA cipher_log = stderr",
            "PRAGMA cipher_use_hmac = OFF", "PRAGMA cipher_migrate", "PRAGMA cipher_memory_security = OFF",
            "PRAGMA writable_schema = ON", "PRAGMA journal_mode = DELETE", "PRAGMA synchronous = OFF",
            "ATTACH 'other' AS other", "ATTACH 'other' AS other KEY ''", "ATTACH '/dev/null' AS other",
            "SELECT sqlcipher_export('main')", "SELECT load_extension('x')",
        ]
    )
    func `statements that could leak are refused`(_ sql: String) throws {
        let errors = [
            databaseError { try database.read { try $0.execute(sql) } },
            databaseError { try database.write { try $0.execute(sql) } },
            databaseError { try database.write(isBulk: true) { try $0.execute(sql) } },
        ]
        #expect(errors == Array(repeating: .notAuthorized, count: 3), "\(sql)")
        #expect(try database.write { try $0.integer("PRAGMA temp_store") } == 2)
        #expect(try folder.names() == ["store", "store-shm", "store-wal"])
    }

    @Test func `VACUUM succeeds, and VACUUM INTO is refused`() throws {
        try database.writeWithoutTransaction { try $0.execute("VACUUM") }
        let error = databaseError { try database.writeWithoutTransaction { try $0.execute("VACUUM INTO 'copy'") } }
        #expect(error == .notAuthorized)
    }

    @Test func `double quotes delimit names, never texts`() {
        let error = databaseError { try database.read { try $0.execute("SELECT \"no such column\"") } }
        guard case .sqlite(code: 1, extendedCode: _, message: _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [Durability.applicationCrash, .powerLoss])
    func `the durability option sets synchronous`(durability: Durability) throws {
        let other = try openSample(folder.filePath("other"), options: sampleOptions { $0.durability = durability })
        let isDurable = durability == .powerLoss
        #expect(try other.write { try $0.integer("PRAGMA synchronous") } == (isDurable ? 2 : 1))
        #if canImport(Darwin)
            #expect(try other.write { try $0.integer("PRAGMA fullfsync") } == (isDurable ? 1 : 0))
            #expect(try other.write { try $0.integer("PRAGMA checkpoint_fullfsync") } == 1)
        #endif
    }

    @Test func `memory protection can be enabled`() async {
        // The setting applies to the whole process, hence a separate one.
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let database = try openSample(folder.filePath("store"), options: sampleOptions { $0.memorySecurity = true })
            try #require(try database.read { try $0.integer("PRAGMA cipher_memory_security") } == 1)
        }
    }
}
