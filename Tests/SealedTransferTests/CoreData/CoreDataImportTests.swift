import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

struct CoreDataImportTests {
    private let folder = TemporaryFolder()

    private func target(_ options: ImportOptions = ImportOptions()) throws -> StoreImport {
        StoreImport(into: folder.file("store"), key: Harbour.key, model: try CoreDataFile.model(), options: options)
    }

    /// The bytes of the store's files.
    private func bytes(_ file: CoreDataFile) throws -> [String: Data] {
        var bytes: [String: Data] = [:]
        for name in try folder.names() where name.hasPrefix("Model.sqlite") {
            bytes[name] = try Data(contentsOf: folder.file(name))
        }
        return bytes
    }

    private func expectLibrary(_ store: TestStore) throws {
        try store.check()
        let authors = try store.objects("Author")
        #expect(authors.map(\.managedObjectID.key) == [2, 3])
        #expect(authors[0]["born"] == .real(-63_114_076_800.25))
        #expect(UUID(storedValue: authors[0]["id"])?.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
        #expect(authors[1]["name"] == .text("") && authors[1]["born"] == .null)
        #expect(authors[0].members(forRelationship: "books").map(\.managedObjectID.key) == [2, 1])
        #expect(authors[0].members(forRelationship: "friends").map(\.managedObjectID.key) == [3])
        #expect(authors[0].members(forRelationship: "awards").map(\.managedObjectID.key) == [1])
        let books = try store.objects("Book")
        #expect(books.map(\.managedObjectID.entity.name) == ["Novel", "Manual", "Novel"])
        let (one, two, four) = (books[0], books[1], books[2])
        #expect(one["pages"] == .integer(2_147_483_647) && two["pages"] == .integer(-2_147_483_648))
        #expect(one["price"] == Decimal(string: "12.5")?.storedValue && two["price"] == Decimal(3).storedValue)
        #expect(one["weight"] == .real(Double(Float(0.1))))
        #expect(one["level"] == .integer(7) && two["level"] == .text("easy") && four["level"] == .null)
        #expect(one["isNew"] == .integer(1) && two["isNew"] == .integer(0) && four["isNew"] == .null)
        #expect(one["cover"] == .blob(Data([0xAA, 0xBB])) && one["digest"] == .blob(Data([1, 0xAA, 0xBB])))
        #expect(two["cover"] == .blob(Data(repeating: 0xCD, count: 200_000)) && two["digest"] == .blob(Data()))
        #expect(one["notes"] == .text(#"{"a":[1]}"#))
        #expect(one.members(forRelationship: "tags").map(\.managedObjectID.key) == [3, 2, 1])
        #expect(two.members(forRelationship: "tags").map(\.managedObjectID.key) == [1])
        let permit = one.destination(forRelationship: "permit") as? ManagedObject
        #expect(permit?["number"] == .integer(.max))
        #expect(permit?.destination(forRelationship: "book") as? ManagedObject === one)
    }

    @Test func `each kind of value and relationship is imported, and the files stay as they are`() throws {
        let file = try CoreDataFile(folder)
        let before = try bytes(file)
        let report = try target().importCoreData(from: file.url)
        #expect(try bytes(file) == before)
        #expect(report.objectCount == 11)
        #expect(
            Set(report.notImported) == [
                "ZBOOK.ZRETIRED: the model has nothing for this column",
                "ZGHOST: the model has nothing for this table",
            ]
        )
        #expect(report.missing == [])
        try expectLibrary(TestStore(folder.file("store")))
    }

    @Test func `the write-ahead log is part of the store`() throws {
        let file = try CoreDataFile(folder)
        try ForeignFile.run(
            """
            PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO ZTAG VALUES (9,7,1,'late');
            .shell mkdir '\(folder.path)/in'
            .shell cp '\(file.url.path)' '\(file.url.path)-wal' '\(folder.path)/in/'
            .shell cp -r '\(folder.path)/.Model_SUPPORT' '\(folder.path)/in/'
            """,
            on: file.url
        )
        let copy = folder.file("in/Model.sqlite")
        let before = try ["Model.sqlite", "Model.sqlite-wal"].map { try Data(contentsOf: folder.file("in/\($0)")) }
        try target().importCoreData(from: copy)
        let after = try ["Model.sqlite", "Model.sqlite-wal"].map { try Data(contentsOf: folder.file("in/\($0)")) }
        #expect(before == after && before[1].count > 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.filePath("in")).sorted() == [
                ".Model_SUPPORT", "Model.sqlite", "Model.sqlite-wal",
            ]
        )
        let store = try TestStore(folder.file("store"))
        #expect(try store.objects("Tag").map { $0["label"] } == [.text("a"), .text("b"), .text("c"), .text("late")])
        try expectLibrary(store)
    }

    @Test func `values that do not fit are refused by name, or omitted`() throws {
        let file = try CoreDataFile(
            folder,
            extra: """
                UPDATE ZBOOK SET ZPAGES = 2147483648 WHERE Z_PK = 1;
                UPDATE ZBOOK SET ZCOVER = CAST(x'02' || CAST('../../secret' AS BLOB) AS BLOB) WHERE Z_PK = 2;
                UPDATE ZBOOK SET ZNOTES = x'62706c6973743030' WHERE Z_PK = 4;
                UPDATE ZBOOK SET ZTITLE = CAST(x'ff' AS TEXT) WHERE Z_PK = 4 AND 0;
                UPDATE ZAUTHOR SET ZID = x'00' WHERE Z_PK = 2;
                """
        )
        let expected = [
            UnfitValues(entity: "Author", property: "id", reason: "the value is not of type uuid", count: 1),
            UnfitValues(
                entity: "Manual",
                property: "cover",
                reason: "the name of the external file is not valid",
                count: 1
            ),
            UnfitValues(entity: "Novel", property: "notes", reason: "the property list is damaged", count: 1),
            UnfitValues(entity: "Novel", property: "pages", reason: "the value is not of type int32", count: 1),
        ]
        #expect(throws: TransferError.unfitValues(expected)) { try target().importCoreData(from: file.url) }
        #expect(try folder.names().contains("store") == false)
        var options = ImportOptions()
        options.unfitContent = .omit
        #expect(try target(options).importCoreData(from: file.url).omitted == expected)
        try TestStore(folder.file("store")).check()
    }

    /// Imports the covers of three books.
    ///
    /// - Parameter isExternal: Whether the model has the option of external storage.
    private func covers(_ covers: [String], isExternal: Bool) throws -> (values: [Value?], report: ImportReport) {
        let updates = zip([1, 2, 4], covers).map { "UPDATE ZBOOK SET ZCOVER = \($1) WHERE Z_PK = \($0);" }
        let file = try CoreDataFile(folder, extra: updates.joined())
        var target = try target()
        target.model = try CoreDataFile.model(hasExternalCovers: isExternal)
        let report = try target.importCoreData(from: file.url)
        return (try TestStore(folder.file("store")).objects("Book").map { $0["cover"] }, report)
    }

    private static let external = "CAST(x'02' || CAST('\(CoreDataFile.externalName)' AS BLOB) || x'00' AS BLOB)"

    @Test(arguments: [true, false])
    func `values with the mark of external storage are read by any model`(isExternal: Bool) throws {
        let values = try covers(["x'01AABB'", Self.external, "NULL"], isExternal: isExternal).values
        #expect(values == [.blob(Data([0xAA, 0xBB])), .blob(Data(repeating: 0xCD, count: 200_000)), .null])
    }

    @Test(arguments: [true, false])
    func `values without the mark of external storage are read by any model`(isExternal: Bool) throws {
        let values = try covers(["x'01AABB'", "x'FF'", "x''"], isExternal: isExternal).values
        #expect(values == [.blob(Data([1, 0xAA, 0xBB])), .blob(Data([0xFF])), .blob(Data())])
    }

    @Test func `values that may have a mark are named in the report`() throws {
        let (values, report) = try covers(["x'01AA'", "x'01BB'", "NULL"], isExternal: false)
        #expect(values == [.blob(Data([1, 0xAA])), .blob(Data([1, 0xBB])), .null])
        #expect(report.notImported.contains { $0.hasPrefix("ZBOOK.ZCOVER: imported with the byte 1") })
    }

    @Test func `columns with and without the mark are refused`() throws {
        let error = #expect(throws: TransferError.self) {
            try covers([Self.external, "x'FF'", "x'01'"], isExternal: false)
        }
        guard case .unfitValues(let values)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(values.map(\.property) == ["cover"] && values.map(\.count) == [2])
    }

    @Test(arguments: [
        ("ZPHONE2, ZPHONE", "'2', '1'", Value.text("1")), ("ZPHONE2, ZPHONE", "'2', NULL", .null),
        ("ZPHONE2", "'2'", .null), ("ZTELEPHONE, ZPHONE2", "'0', '2'", .text("0")),
    ])
    func `a property has the column of its name, not one with a number`(
        columns: String,
        values: String,
        expected: Value
    ) throws {
        let declarations = columns.split(separator: ", ").map { "\($0) VARCHAR" }.joined(separator: ", ")
        try ForeignFile.run(
            """
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            INSERT INTO Z_PRIMARYKEY VALUES (1,'Guest',0,1);
            CREATE TABLE ZGUEST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(declarations));
            INSERT INTO ZGUEST (Z_PK, Z_ENT, Z_OPT, \(columns)) VALUES (1, 1, 1, \(values));
            """,
            on: folder.file("Guests.sqlite")
        )
        let phone = AttributeDescription("phone", .string, isOptional: true, renamingIdentifier: "telephone")
        let model = try ManagedObjectModel(entities: [EntityDescription("Guest", attributes: [phone])])
        let target = StoreImport(into: folder.file("store"), key: Harbour.key, model: model)
        let report = try target.importCoreData(from: folder.file("Guests.sqlite"))
        #expect(try TestStore(folder.file("store")).objects("Guest").map { $0["phone"] } == [expected])
        #expect(report.notImported == ["ZGUEST.ZPHONE2: the model has nothing for this column"])
    }

    @Test func `a number beyond the range of a float is refused`() throws {
        let file = try CoreDataFile(folder, extra: "UPDATE ZBOOK SET ZWEIGHT = 1e300 WHERE Z_PK = 1;")
        let unfit = UnfitValues(entity: "Novel", property: "weight", reason: "the value is not of type float", count: 1)
        #expect(throws: TransferError.unfitValues([unfit])) { try target().importCoreData(from: file.url) }
    }

    @Test func `conversions make values from several columns`() throws {
        let file = try CoreDataFile(
            folder,
            extra: "ALTER TABLE ZBOOK ADD COLUMN ZWIDTH INTEGER; UPDATE ZBOOK SET ZWIDTH = Z_PK * 10;"
        )
        let report = try target().importCoreData(
            from: file.url,
            conversions: [
                "Book.notes": { row in
                    guard case .integer(let width) = row[column: "ZWIDTH"] else { return nil }
                    return .text("{\"width\":\(width)}")
                }
            ]
        )
        #expect(report.omitted == [])
        let notes = try TestStore(folder.file("store")).objects("Book").map { $0["notes"] }
        #expect(notes == [.text(#"{"width":10}"#), .text(#"{"width":20}"#), .text(#"{"width":40}"#)])
    }

    @Test func `properties and tables that the file lacks are named`() throws {
        let file = try CoreDataFile(folder, extra: "DROP TABLE ZAWARD; ALTER TABLE ZBOOK DROP COLUMN ZDIGEST;")
        let report = try target().importCoreData(from: file.url)
        #expect(report.missing.contains("Book.digest") && report.missing.contains("Author.awards"))
        try TestStore(folder.file("store")).check()
    }

    @Test func `other databases are refused`() throws {
        try ForeignFile.run("CREATE TABLE t (a)", on: folder.file("t.db"))
        #expect(throws: TransferError.unsupported("a database without the tables of Core Data")) {
            try target().importCoreData(from: folder.file("t.db"))
        }
    }

    @Test func `columns of namesakes without values are neither missing nor left over`() throws {
        let file = try CoreDataFile(folder, extra: "UPDATE ZBOOK SET ZLEVEL = NULL, ZLEVEL1 = NULL;")
        let report = try target().importCoreData(from: file.url)
        #expect(!report.missing.contains { $0.hasSuffix(".level") })
        #expect(!report.notImported.contains { $0.contains("ZLEVEL") })
    }

    @Test func `a namesake without a column is missing`() throws {
        let extra = "UPDATE ZBOOK SET ZLEVEL = NULL; ALTER TABLE ZBOOK DROP COLUMN ZLEVEL1;"
        let report = try target().importCoreData(from: CoreDataFile(folder, extra: extra).url)
        #expect(Set(report.missing).isSuperset(of: ["Manual.level", "Novel.level"]))
    }

    @Test(arguments: [false, true])
    func `a required attribute without a column has its default value`(_ isDeclared: Bool) throws {
        let file = try CoreDataFile(folder)
        var declarations = try CoreDataFile.model().declarations
        let tag = try #require(declarations.firstIndex { $0.name == "Tag" })
        declarations[tag].attributes.append(
            .init("uses", .int64, defaultValue: isDeclared ? .integer(3) : nil)
        )
        var target = try target()
        target.model = try ManagedObjectModel(entities: declarations)
        if !isDeclared {
            target.defaultValues = { entity, attribute in (entity, attribute) == ("Tag", "uses") ? .integer(3) : nil }
        }
        let report = try target.importCoreData(from: file.url)
        #expect(report.missing.contains("Tag.uses"))
        #expect(
            try TestStore(folder.file("store")).objects("Tag").map { $0["uses"] } == [
                .integer(3), .integer(3), .integer(3),
            ]
        )
    }
}
