import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

struct DatabaseImportTests {
    private let folder = TemporaryFolder()

    private func target(_ options: ImportOptions = ImportOptions()) -> StoreImport {
        StoreImport(into: folder.file("store"), key: Harbour.key, options: options)
    }

    private static let shop = """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, vip BOOLEAN, rate REAL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE,
            placed TEXT, note BLOB, total NUMERIC);
        CREATE TABLE tags (word TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE order_tags (order_id INTEGER REFERENCES orders, tag TEXT REFERENCES tags, PRIMARY KEY (order_id, tag));
        CREATE TABLE staff (id INTEGER PRIMARY KEY, boss_id INTEGER REFERENCES staff, badge TEXT UNIQUE);
        CREATE TABLE keys (serial TEXT, holder TEXT UNIQUE REFERENCES staff (badge));
        CREATE INDEX orders_placed ON orders (placed);
        CREATE INDEX vips ON customers (name) WHERE vip;
        CREATE VIEW names AS SELECT name FROM customers;
        INSERT INTO customers VALUES (3, 'Ann', 'ann@example.org', 1, 1.5), (5, 'Bob', NULL, 0, 2);
        INSERT INTO orders VALUES (10, 3, '2024-05-06', x'00ff', 12), (11, 3, NULL, NULL, 12.5), (12, 5, '2024-05-07', x'', 1);
        INSERT INTO tags VALUES ('new'), ('old');
        INSERT INTO order_tags VALUES (10, 'new'), (10, 'old'), (12, 'new');
        INSERT INTO staff VALUES (1, 2, 'A'), (2, NULL, 'B');
        INSERT INTO keys VALUES ('k1', 'B'), ('k2', 'A'), ('k3', NULL);
        """

    private func expectShop(_ report: ImportReport) throws {
        #expect(report.objectCount == 2 + 3 + 2 + 2 + 3)
        #expect(report.notImported == ["customers: a partial index, 'vips'", "names: a view"])
        let store = try TestStore(folder.file("store"))
        try store.check()
        let model = store.context.model
        #expect(Set(model.entities.map(\.name)) == ["customers", "orders", "tags", "staff", "keys"])
        let ann = try #require(try store.objects("customers").first)
        #expect(ann.managedObjectID.key == 3)
        #expect(ann["name"] == .text("Ann") && ann["vip"] == .integer(1) && ann["rate"] == .real(1.5))
        #expect(ann.members(forRelationship: "orders").map(\.managedObjectID.key) == [10, 11])
        let orders = try store.objects("orders")
        #expect(orders.map { $0["total"] } == [.real(12), .real(12.5), .real(1)])
        #expect(orders.map { $0["note"] } == [.blob(Data([0, 255])), .null, .blob(Data())])
        let words = orders.map { $0.members(forRelationship: "tags").map { ($0 as? ManagedObject)?["word"] } }
        #expect(words.map { Set($0) } == [[.text("new"), .text("old")], [], [.text("new")]])
        let customer = try #require(model.entitiesByName["customers"])
        let placed = try #require(model.entitiesByName["orders"])
        #expect(placed.relationship(named: "customer")?.isOptional == false)
        #expect(customer.relationship(named: "orders")?.deleteRule == .cascade)
        #expect(customer.description.uniquenessConstraints == [["email"], ["id"]])
        #expect(placed.indexes == [FetchIndexDescription(["placed"])])
        let staff = try store.objects("staff")
        #expect(staff[0].destination(forRelationship: "boss") as? ManagedObject === staff[1])
        #expect(staff[1].members(forRelationship: "staff_boss").count == 1)
        let keys = try store.objects("keys")
        #expect(keys[0].destination(forRelationship: "holder") as? ManagedObject === staff[1])
        #expect(staff[0].destination(forRelationship: "keys") as? ManagedObject === keys[1])
        #expect(keys[2].destination(forRelationship: "holder") == nil)
    }

    @Test func `tables, keys, joins and indexes become a model with its objects`() throws {
        try ForeignFile.run(Self.shop, on: folder.file("shop.db"))
        let before = try Data(contentsOf: folder.file("shop.db"))
        try expectShop(target().importDatabase(from: folder.file("shop.db")))
        #expect(try Data(contentsOf: folder.file("shop.db")) == before)
        #expect(try folder.names().filter { $0.hasPrefix(".") || $0.hasPrefix("shop.db-") } == [])
    }

    @Test(arguments: [3, 4])
    func `databases of SQLCipher 3 and 4 are read with their passphrase`(version: Int) throws {
        let url = folder.file("shop.db")
        let compatibility = version == 3 ? "PRAGMA cipher_compatibility = 3;" : ""
        try ForeignFile.run("PRAGMA key = 'open sesame'; \(compatibility) \(Self.shop)", on: url)
        let before = try Data(contentsOf: url)
        func encryption(_ passphrase: String) -> DatabaseEncryption {
            version == 3 ? .sqlCipher3(.passphrase(passphrase)) : .sqlCipher4(.passphrase(passphrase))
        }
        #expect(throws: DatabaseError.wrongKey(path: url.path)) {
            try target().importDatabase(from: url, encryption: encryption("wrong"))
        }
        #expect(throws: DatabaseError.self) { try target().importDatabase(from: url) }
        try expectShop(target().importDatabase(from: url, encryption: encryption("open sesame")))
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `a write-ahead log is read and stays as it is`() throws {
        let url = folder.file("live.db")
        try ForeignFile.run(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);
            .filectrl persist_wal 1
            """,
            on: url
        )
        // A connection that ends without closing leaves its log.
        try ForeignFile.run(
            """
            PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (2); INSERT INTO t VALUES (3);
            .shell cp '\(url.path)' '\(url.path).copy' && cp '\(url.path)-wal' '\(url.path).copy-wal'
            """,
            on: url
        )
        let copy = folder.file("live.db.copy")
        let before = try folder.contents().filter { $0.key.hasPrefix("live.db.copy") }
        #expect(before.count == 2 && before["live.db.copy-wal"]?.isEmpty == false)
        let report = try target().importDatabase(from: copy)
        #expect(report.objectCount == 3)
        #expect(try folder.contents().filter { $0.key.hasPrefix("live.db.copy") } == before)
    }

    @Test func `values decide about types, not declarations`() throws {
        try ForeignFile.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, "a b" INTEGER, mixed, whole REAL, empty VARCHAR(10), "_id" TEXT NOT NULL,
                big INTEGER, twice INTEGER GENERATED ALWAYS AS (id * 2) VIRTUAL);
            INSERT INTO t (id, "a b", mixed, whole, "_id", big) VALUES
                (1, 'text', 1, 1, 'x', 9223372036854775807), (2, 7, x'01', 2.5, 'y', -1);
            """,
            on: folder.file("t.db")
        )
        let report = try target().importDatabase(from: folder.file("t.db"))
        #expect(report.notImported.contains("t.twice: a generated column"))
        #expect(report.notImported.contains("t.a b: values of several types, imported as string"))
        let store = try TestStore(folder.file("store"))
        let types = store.context.model.entities[0].attributes.map { "\($0.name) \($0.type.rawValue) \($0.isOptional)" }
        #expect(
            types == [
                "id int64 false", "a_b string true", "mixed data true", "whole double true", "empty string true",
                "x_id string false", "big int64 true",
            ]
        )
        let objects = try store.objects("t")
        #expect(objects.map { $0["a_b"] } == [.text("text"), .text("7")])
        #expect(objects.map { $0["mixed"] } == [.blob(Data("1".utf8)), .blob(Data([1]))])
        try store.check()
    }

    @Test func `interpretations give columns other types`() throws {
        try ForeignFile.run(
            """
            CREATE TABLE t (at INTEGER, flag INTEGER, uid TEXT, doc TEXT, price TEXT, day TEXT);
            INSERT INTO t VALUES (978307200, 5, 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F', '{"a":1}', '1.10', '2001-01-02');
            INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL);
            """,
            on: folder.file("t.db")
        )
        let interpretations: [String: ColumnInterpretation] = [
            "t.at": .unixSeconds, "t.flag": .boolean, "t.uid": .uuid, "t.doc": .json, "t.price": .decimal,
            "t.day": .iso8601,
        ]
        try target().importDatabase(from: folder.file("t.db"), interpretations: interpretations)
        let store = try TestStore(folder.file("store"))
        let object = try #require(try store.objects("t").first)
        #expect(object["at"] == .real(0) && object["flag"] == .integer(1) && object["day"] == .real(86_400))
        #expect(UUID(storedValue: object["uid"])?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(object["doc"] == .text(#"{"a":1}"#))
        #expect(object["price"] == Decimal(string: "1.1")?.storedValue)
    }

    @Test func `texts that are not UTF-8 and dangling references are refused by name, or omitted`() throws {
        try ForeignFile.run(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE b (a_id INTEGER REFERENCES a);
            INSERT INTO a VALUES (1, CAST(x'ff41' AS TEXT)), (2, 'ok');
            INSERT INTO b VALUES (1), (9), (9), (NULL);
            """,
            on: folder.file("t.db")
        )
        let unfit = UnfitValues(entity: "a", property: "name", reason: "the text is not UTF-8", count: 1)
        #expect(throws: TransferError.unfitValues([unfit])) { try target().importDatabase(from: folder.file("t.db")) }
        #expect(try folder.names() == ["t.db"])
        var options = ImportOptions()
        options.unfitContent = .omit
        let report = try target(options).importDatabase(from: folder.file("t.db"))
        #expect(report.omitted.map(\.count) == [1, 2])
        try TestStore(folder.file("store")).check()
    }

    @Test func `composite keys and cyclic references are followed`() throws {
        try ForeignFile.run(
            """
            CREATE TABLE line (doc INTEGER, no TEXT, next_doc INTEGER, next_no TEXT, PRIMARY KEY (doc, no),
                FOREIGN KEY (next_doc, next_no) REFERENCES line) WITHOUT ROWID;
            CREATE TABLE x (id INTEGER PRIMARY KEY, y_id INTEGER NOT NULL REFERENCES y);
            CREATE TABLE y (id INTEGER PRIMARY KEY, x_id INTEGER NOT NULL REFERENCES x);
            INSERT INTO line VALUES (1, 'a', 1, 'b'), (1, 'b', 2, 'a'), (2, 'a', NULL, NULL);
            INSERT INTO x VALUES (1, 2); INSERT INTO y VALUES (2, 1);
            """,
            on: folder.file("t.db")
        )
        try target().importDatabase(from: folder.file("t.db"))
        let store = try TestStore(folder.file("store"))
        let lines = try store.objects("line")
        #expect(lines.count == 3)
        let followers = lines.map { $0.destination(forRelationship: "line").map { ($0 as? ManagedObject)?["no"] } }
        #expect(followers == [.text("b"), .text("a"), nil])
        let x = try #require(try store.objects("x").first)
        let y = x.destination(forRelationship: "y") as? ManagedObject
        #expect(y?.destination(forRelationship: "x") as? ManagedObject === x)
        try store.check()
    }

    @Test func `names are compared as SQLite compares them`() throws {
        let (composed, decomposed) = ("\u{C9}", "E\u{301}")
        try ForeignFile.run(
            """
            CREATE TABLE t ("\(composed)" INTEGER, "\u{E9}" INTEGER, "\(decomposed)" INTEGER, K INTEGER, "\u{212A}" INTEGER);
            CREATE TABLE "\(composed)" (id INTEGER PRIMARY KEY, a INTEGER);
            CREATE TABLE "\(decomposed)" (id INTEGER PRIMARY KEY, b INTEGER REFERENCES "\(composed)" (ID));
            INSERT INTO t VALUES (1, 2, 3, 4, 5);
            INSERT INTO "\(composed)" VALUES (7, 1); INSERT INTO "\(decomposed)" VALUES (8, 7);
            """,
            on: folder.file("t.db")
        )
        let report = try target().importDatabase(from: folder.file("t.db"))
        #expect(report.objectCount == 3)
        let store = try TestStore(folder.file("store"))
        let entity = try #require(store.context.model.entitiesByName["t"])
        let object = try #require(try store.objects("t").first)
        #expect(entity.attributes.map { object[$0.name] } == (1...5).map { .integer($0) })
        let referring = try #require(store.context.model.entities.first { $0.relationship(named: "b") != nil })
        let child = try #require(try store.objects(referring.name).first)
        #expect((child.destination(forRelationship: "b") as? ManagedObject)?["a"] == .integer(1))
        try store.check()
    }

    @Test func `names that are not UTF-8 are refused`() throws {
        try ForeignFile.run("CREATE TABLE t (zqxa, zqxb)", on: folder.file("t.db"))
        var bytes = [UInt8](try Data(contentsOf: folder.file("t.db")))
        for name in ["zqxa", "zqxb"] {
            let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) })
            bytes[start + 3] = name == "zqxa" ? 0xFE : 0xFF
        }
        try Data(bytes).write(to: folder.file("t.db"))
        #expect(throws: TransferError.unsupported("a database with a name that is not UTF-8")) {
            try target().importDatabase(from: folder.file("t.db"))
        }
    }

    @Test func `interpretations of other names than those of columns are refused`() throws {
        try ForeignFile.run(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, At); CREATE TABLE b (a_id REFERENCES a)",
            on: folder.file("t.db")
        )
        func run(_ name: String) throws {
            try target().importDatabase(from: folder.file("t.db"), interpretations: [name: .unixSeconds])
        }
        for name in ["a.att", "c.at", "b.a_id"] {
            #expect(throws: TransferError.unusedInterpretations([name])) { try run(name) }
        }
        try run("A.at")
    }

    @Test(arguments: [
        // The trigger and the view would fail or write if they ran.
        """
        CREATE TABLE t (a INTEGER CHECK (load_extension('x') OR 1)); INSERT INTO t DEFAULT VALUES;
        """,
        """
        CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('1');
        CREATE VIEW v AS SELECT writefile('/nowhere/x', a) FROM t;
        CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT load_extension('x'); END;
        """,
        """
        CREATE TABLE "a""b;--" ("c""d" TEXT, "" INTEGER); INSERT INTO "a""b;--" VALUES ('1', 2);
        """,
        """
        PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('ü😀' || char(0) || 'x');
        """,
        """
        CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('x'); CREATE TABLE t (a); INSERT INTO t VALUES (1);
        """,
    ])
    func `hostile and odd schemas are read as tables only`(sql: String) throws {
        do {
            try ForeignFile.run(sql, on: folder.file("t.db"))
        } catch is ForeignFile.Failure {
            // The tool itself refuses to write it.
            return
        }
        let report = try target().importDatabase(from: folder.file("t.db"))
        #expect(report.objectCount == 1)
        try TestStore(folder.file("store")).check()
    }

    @Test func `schemas beyond the limits, other files and existing stores are refused`() throws {
        try ForeignFile.run("CREATE TABLE a (x); CREATE TABLE b (x)", on: folder.file("t.db"))
        var options = ImportOptions()
        options.limits.entityCount = 1
        #expect(throws: TransferError.unsupported("a database with more than 1 tables")) {
            try target(options).importDatabase(from: folder.file("t.db"))
        }
        try Data(repeating: 7, count: 10_000).write(to: folder.file("noise"))
        #expect(throws: DatabaseError.self) { try target().importDatabase(from: folder.file("noise")) }
        #expect(throws: DatabaseError.fileNotFound(path: folder.filePath("none"))) {
            try target().importDatabase(from: folder.file("none"))
        }
        try target().importDatabase(from: folder.file("t.db"))
        #expect(throws: DatabaseError.self) { try target().importDatabase(from: folder.file("t.db")) }
    }

    @Test(arguments: [10, TransferLimits().propertyCount])
    func `foreign keys count to the properties of their table`(limit: Int) throws {
        let keys = Array(repeating: "FOREIGN KEY (p_id) REFERENCES p (id)", count: limit).joined(separator: ", ")
        try ForeignFile.run(
            "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INTEGER, \(keys));",
            on: folder.file("t.db")
        )
        var options = ImportOptions()
        options.limits.propertyCount = limit
        let reason = "a table with more than \(limit) columns and columns of foreign keys"
        #expect(throws: TransferError.unsupported(reason)) {
            try target(options).importDatabase(from: folder.file("t.db"))
        }
    }

    @Test func `foreign keys count to the properties of the table to which they lead`() throws {
        func write(_ name: String, count: Int) throws {
            let tables = (0..<count).map { "CREATE TABLE c\($0) (p_id INTEGER REFERENCES p);" }.joined()
            try ForeignFile.run("CREATE TABLE p (id INTEGER PRIMARY KEY); \(tables)", on: folder.file(name))
        }
        try write("large.db", count: 10)
        try write("largest.db", count: 9)
        var options = ImportOptions()
        options.limits.propertyCount = 10
        let reason = "a table with more than 10 columns and foreign keys that lead to it"
        #expect(throws: TransferError.unsupported(reason)) {
            try target(options).importDatabase(from: folder.file("large.db"))
        }
        try target(options).importDatabase(from: folder.file("largest.db"))
        let model = try TestStore(folder.file("store")).context.model
        #expect(model.entitiesByName["p"]?.relationships.count == 9)
    }

    @Test func `names that differ only in characters which no property can have are numbered`() throws {
        try ForeignFile.run(
            """
            CREATE TABLE t ("a b" INTEGER, "a-b" INTEGER, a_b3 INTEGER, "a+b" INTEGER);
            INSERT INTO t VALUES (1, 2, 3, 4);
            """,
            on: folder.file("t.db")
        )
        try target().importDatabase(from: folder.file("t.db"))
        let names = try TestStore(folder.file("store")).context.model.entities[0].attributes.map(\.name)
        #expect(names == ["a_b", "a_b2", "a_b3", "a_b4"])
    }

    @Test func `damaged databases are refused and leave no store`() throws {
        try ForeignFile.run(
            "CREATE TABLE t (a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) "
                + "INSERT INTO t SELECT hex(randomblob(50)) FROM n;",
            on: folder.file("t.db")
        )
        let intact = try Data(contentsOf: folder.file("t.db"))
        var generator = SeededGenerator()
        print(generator)
        for _ in 0..<60 {
            var bytes = intact
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                let position = Int.random(in: 16..<bytes.count, using: &generator)
                bytes[position] = UInt8.random(in: 0...255, using: &generator)
            }
            if generator.chance(30) { bytes = bytes.prefix(Int.random(in: 100..<bytes.count, using: &generator)) }
            try bytes.write(to: folder.file("t.db"))
            // Whether the damage is found or not: no crash, and nothing half done.
            if (try? target().importDatabase(from: folder.file("t.db"))) != nil {
                try TestStore(folder.file("store")).check()
                for name in try folder.names() where name.hasPrefix("store") {
                    try FileManager.default.removeItem(at: folder.file(name))
                }
            }
            #expect(try folder.names().filter { $0 != "t.db" } == [])
        }
    }

    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func `texts of a mixed column are UTF-8 in any encoding`(_ encoding: String) throws {
        let sql = """
            PRAGMA encoding = '\(encoding)'; CREATE TABLE t (id INTEGER PRIMARY KEY, v);
            INSERT INTO t VALUES (1, 'zwölf'), (2, x'03'), (3, 7), (4, 1.5);
            """
        try ForeignFile.run(sql, on: folder.file("mixed.db"))
        let report = try target().importDatabase(from: folder.file("mixed.db"))
        #expect(report.notImported == ["t.v: values of several types, imported as data"])
        let values = try TestStore(folder.file("store")).objects("t").map { $0["v"] }
        #expect(values == ["zwölf", "\u{3}", "7", "1.5"].map { .blob(Data($0.utf8)) })
    }

    @Test func `the tables of Core Data itself are no entities`() throws {
        let file = try CoreDataFile(folder, extra: "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY);")
        let report = try target().importDatabase(from: file.url)
        let own = ["ACHANGE", "ATRANSACTION", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"]
        #expect(Set(report.notImported).isSuperset(of: own.map { "\($0): a table of Core Data itself" }))
        let names = Set(try TestStore(folder.file("store")).context.model.entities.map(\.name))
        #expect(names.isDisjoint(with: own) && names.isSuperset(of: ["ZAUTHOR", "ZBOOK", "Z_3TAGS"]))
    }

    @Test func `a table with the name of one of Core Data's is an entity in another database`() throws {
        try ForeignFile.run(
            "CREATE TABLE Z_METADATA (id INTEGER PRIMARY KEY); INSERT INTO Z_METADATA VALUES (1);",
            on: folder.file("other.db")
        )
        #expect(try target().importDatabase(from: folder.file("other.db")).objectCount == 1)
    }
}
