import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

/// Imports into stores with objects, and into stores that had objects.
struct UpdatingTests {
    private let folder = TemporaryFolder()

    private func run(
        _ lines: String,
        updates: Bool = true,
        model: ManagedObjectModel? = nil
    ) throws -> ImportReport {
        var options = ImportOptions()
        if updates { options.existingObjects = .update }
        try Data(lines.utf8).write(to: folder.file("objects.jsonl"))
        return try StoreImport(
            into: folder.file("store"),
            key: Harbour.key,
            model: try model ?? Harbour.model(),
            options: options
        ).importJSONLines(from: folder.file("objects.jsonl"))
    }

    private func object(_ entity: String, _ name: String, _ store: TestStore) throws -> ManagedObject {
        try #require(try store.objects(entity).first { $0["name"] == .text(name) })
    }

    @Test func `identifiers do not become keys that the store has given before`() throws {
        var store = try TestStore(folder.file("store"), Harbour.model())
        let first = store.insert("Flag", ["code": .text("old")])
        try store.context.save()
        let key = first.managedObjectID.key
        store.context.delete(first)
        try store.context.save()
        try store.close()
        _ = try run("{\"_entity\":\"Flag\",\"_id\":\(key),\"code\":\"new\"}")
        store = try TestStore(folder.file("store"))
        let flag = try #require(try store.objects("Flag").first)
        #expect(flag["code"] == .text("new") && flag.managedObjectID.key > key)
        try store.check()
    }

    @Test func `identifiers do not become keys that another program holds for objects it has not saved`() throws {
        let store = try TestStore(folder.file("store"), Harbour.model())
        let flag = store.insert("Flag", ["code": .text("held")])
        try store.context.obtainPermanentIDs(for: [flag])
        let key = flag.managedObjectID.key
        _ = try run("{\"_entity\":\"Flag\",\"_id\":\(key),\"code\":\"imported\"}")
        try store.context.save()
        let codes = try store.objects("Flag").map { $0["code"] }
        #expect(Set(codes) == [.text("held"), .text("imported")])
        try store.check()
    }

    @Test func `equal values are no change`() throws {
        let store = try TestStore(folder.file("store"), Harbour.model(), history: HistoryOptions(recordsValues: true))
        let lines = [
            #"{"_entity":"Vessel","_id":"ark","name":"Ark","captain":null,"double":0.5,"data":"AAEC","photo":"AAEC"}"#,
            #"{"_entity":"Vessel","_id":"bee","name":"Bee","int8":3,"consorts":["ark"],"passengers":[]}"#,
        ]
        _ = try run(lines.joined(separator: "\n"))
        let transactions = try store.coordinator.history().map(\.number)
        let report = try run(lines.joined(separator: "\n"))
        #expect(report.entities.map(\.updated).reduce(0, +) == 2)
        #expect(try store.coordinator.history().map(\.number) == transactions)
        _ = try run(lines.joined(separator: "\n").replacing("0.5", with: "0.25"))
        let later = try store.coordinator.history().dropFirst(transactions.count)
        #expect(later.flatMap(\.changes).map { $0.updatedProperties.map(\.name) } == [["double"]])
        try store.check()
    }

    private func writeCaptain() throws {
        _ = try run(
            """
            {"_entity":"Person","_id":"ann","name":"Ann"}
            {"_entity":"Vessel","_id":"ark","name":"Ark","captain":"ann"}
            """
        )
    }

    @Test func `a cleared one-to-one relationship is cleared on both sides`() throws {
        try writeCaptain()
        let report = try run(#"{"_entity":"Vessel","name":"Ark","captain":null}"#)
        #expect(report.objectCount == 1)
        let store = try TestStore(folder.file("store"))
        #expect(try object("Vessel", "Ark", store).destination(forRelationship: "captain") == nil)
        #expect(try object("Person", "Ann", store).destination(forRelationship: "command") == nil)
        try store.check()
    }

    @Test(arguments: [false, true])
    func `a changed one-to-one relationship leaves its earlier destination`(isMentionedFirst: Bool) throws {
        try writeCaptain()
        let lines = [
            #"{"_entity":"Vessel","name":"Ark","captain":"bob"}"#, #"{"_entity":"Person","_id":"bob","name":"Bob"}"#,
        ]
        _ = try run((isMentionedFirst ? lines : lines.reversed()).joined(separator: "\n"))
        let store = try TestStore(folder.file("store"))
        let ark = try object("Vessel", "Ark", store)
        let bob = try object("Person", "Bob", store)
        #expect(ark.destination(forRelationship: "captain") as? ManagedObject === bob)
        #expect(bob.destination(forRelationship: "command") as? ManagedObject === ark)
        #expect(try object("Person", "Ann", store).destination(forRelationship: "command") == nil)
        try store.check()
    }

    @Test func `a destination that the source has leaves its earlier partner`() throws {
        _ = try run(
            """
            {"_entity":"Vessel","_id":"ark","name":"Ark","captain":"ann"}
            {"_entity":"Vessel","_id":"bee","name":"Bee","captain":"bob"}
            {"_entity":"Person","_id":"ann","name":"Ann"}
            {"_entity":"Person","_id":"bob","name":"Bob"}
            """
        )
        // Bee keeps its place in the store; the source does not say that its captain leaves it.
        _ = try run(
            """
            {"_entity":"Vessel","_id":1,"name":"Ark","captain":3}
            {"_entity":"Person","_id":3,"name":"Cy","command":1}
            """
        )
        let store = try TestStore(folder.file("store"))
        #expect(try object("Person", "Ann", store).destination(forRelationship: "command") == nil)
        let bob = try object("Person", "Bob", store)
        let captain = try object("Vessel", "Bee", store).destination(forRelationship: "captain") as? ManagedObject
        #expect(captain === bob)
        try store.check()
    }

    @Test func `vessels exchange their captains`() throws {
        _ = try run(
            """
            {"_entity":"Vessel","_id":"ark","name":"Ark","captain":"ann"}
            {"_entity":"Vessel","_id":"bee","name":"Bee","captain":"bob"}
            {"_entity":"Person","_id":"ann","name":"Ann"}
            {"_entity":"Person","_id":"bob","name":"Bob"}
            """
        )
        let report = try run(
            """
            {"_entity":"Vessel","name":"Ark","captain":null}
            {"_entity":"Vessel","name":"Bee","captain":"cy"}
            {"_entity":"Person","_id":"cy","name":"Cy"}
            """
        )
        #expect(report.entities.map(\.updated) == [2, 0])
        let store = try TestStore(folder.file("store"))
        #expect(try object("Vessel", "Ark", store).destination(forRelationship: "captain") == nil)
        #expect(try object("Person", "Bob", store).destination(forRelationship: "command") == nil)
        try store.check()
    }

    @Test func `sides of the source that contradict each other are refused`() throws {
        try writeCaptain()
        let lines = """
            {"_entity":"Vessel","_id":1,"name":"Ark","captain":7}
            {"_entity":"Vessel","_id":2,"name":"Bee"}
            {"_entity":"Person","_id":7,"name":"Cy","command":2}
            """
        let error = #expect(throws: TransferError.self) { try run(lines) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("inverse"))
    }

    @Test func `a member that another object of the store has changes its owner`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "shelf", isOrdered: true)],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Book",
                attributes: [AttributeDescription("title", .string)],
                relationships: [RelationshipDescription("shelf", to: "Shelf", .one, inverse: "books")],
                uniquenessConstraints: [["title"]]
            ),
        ])
        let books =
            #"{"_entity":"Book","_id":"a","title":"A"}"# + "\n" + #"{"_entity":"Book","_id":"b","title":"B"}"# + "\n"
        _ = try run(books + #"{"_entity":"Shelf","name":"one","books":["a","b"]}"#, model: model)
        _ = try run(books + #"{"_entity":"Shelf","name":"two","books":["b"]}"#, model: model)
        let store = try TestStore(folder.file("store"))
        let titles = try store.objects("Shelf").map { shelf in
            shelf.members(forRelationship: "books").map { ($0 as? ManagedObject)?["title"] }
        }
        #expect(titles == [[.text("A")], [.text("B")]])
        try store.check()
        try store.close()
        // Two owners in one source are a contradiction.
        let lines = ["three", "four"].map { "{\"_entity\":\"Shelf\",\"name\":\"\($0)\",\"books\":[\"a\"]}" }
        #expect(throws: TransferError.self) { try run(books + lines.joined(separator: "\n"), model: model) }
    }

    @Test(arguments: [0, 600]) func `an object of the store is updated once`(distance: Int) throws {
        _ = try run(#"{"_entity":"Vessel","name":"Ark"}"#)
        let others = (0..<distance).map { "{\"_entity\":\"Vessel\",\"name\":\"vessel \($0)\"}" }
        let lines =
            [#"{"_entity":"Vessel","name":"Ark","int8":1}"#] + others
            + [#"{"_entity":"Vessel","name":"Ark","int8":2}"#]
        #expect(throws: TransferError.notUnique(entity: "Vessel", properties: ["name"])) {
            try run(lines.joined(separator: "\n"))
        }
        #expect(try TestStore(folder.file("store")).count("Vessel") == 1)
    }

    @Test func `a number beyond the range of a float does not become infinity`() throws {
        let error = #expect(throws: TransferError.self) {
            try run(#"{"_entity":"Vessel","name":"Ark","float":1e300}"#)
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("Vessel.float: the value is not of type float"))
        _ = try run(#"{"_entity":"Vessel","name":"Ark","float":"inf"}"#, updates: false)
        let store = try TestStore(folder.file("store"))
        #expect(try object("Vessel", "Ark", store)["float"] == .real(.infinity))
    }

    @Test func `a pipe is refused, since an import reads its source several times`() throws {
        let pipe = folder.filePath("pipe.jsonl")
        #expect(mkfifo(pipe, 0o600) == 0)
        let target = StoreImport(into: folder.file("store"), key: Harbour.key, model: try Harbour.model())
        let error = #expect(throws: TransferError.self) { try target.importJSONLines(from: folder.file("pipe.jsonl")) }
        guard case .unreadable("pipe.jsonl", let reason)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(reason.hasPrefix("it is not a regular file"))
        #expect(try folder.names() == ["pipe.jsonl"])
    }

    @Test func `objects that violated a rule before do not prevent an import`() throws {
        _ = try run(
            """
            {"_entity":"Vessel","_id":"ark","name":"Ark"}
            {"_entity":"Port","name":"Porto","home":"ark"}
            """
        )
        try ForeignFile.run(
            "\(EncryptionKey.statementOfTests) UPDATE Port SET home = NULL;",
            on: folder.file("store")
        )
        let report = try run(#"{"_entity":"Vessel","name":"Bee"}"#)
        #expect(report.objectCount == 1)
        // A further object without a required value is one of the import.
        #expect(throws: TransferError.self) { try run(#"{"_entity":"Port","name":"Riga"}"#) }
    }

    /// A source with one object, which is cancelled after it was read.
    private struct CancelledSource: ImportSource {
        let model: ManagedObjectModel
        let progress: Progress
        let unitCount: Int64 = 1
        let needsIdentification = false

        func hasIntegerIDs(of root: Entity) -> Bool { false }

        func read(into session: ImportSession) throws {
            var object = ImportedObject(try #require(model.entitiesByName["Flag"]))
            object.values = [.text("x")]
            try session.add(object)
            try session.advance(to: 1)
            progress.cancel()
        }
    }

    @Test(arguments: [false, true]) func `the checks at the end can be cancelled`(isNew: Bool) throws {
        let model = try Harbour.model()
        if !isNew { _ = try run(#"{"_entity":"Flag","code":"first"}"#) }
        let before = try folder.contents()
        let target = StoreImport(into: folder.file("store"), key: Harbour.key, model: model)
        let progress = Progress(totalUnitCount: 1)
        #expect(throws: CancellationError.self) {
            try target.run(CancelledSource(model: model, progress: progress), model, progress)
        }
        #expect(try folder.contents().keys.sorted() == before.keys.sorted())
        if !isNew { #expect(try TestStore(folder.file("store")).count("Flag") == 1) }
    }

    @Test func `a new store with a damaged page does not get its name`() throws {
        let model = try Harbour.model()
        let lines = (0..<2_000).map { "{\"_entity\":\"Flag\",\"code\":\"\($0)\"}" }
        _ = try run(lines.joined(separator: "\n"), updates: false)
        var bytes = try Data(contentsOf: folder.file("store"))
        bytes[bytes.count - 2_000] ^= 1
        try bytes.write(to: folder.file("damaged"))
        let target = StoreImport(into: folder.file("other"), key: Harbour.key, model: model)
        #expect(throws: DatabaseError.damaged(path: folder.filePath("other"))) {
            try target.verify(folder.file("damaged"), model, nil)
        }
        try target.verify(folder.file("store"), model, nil)
    }
}
