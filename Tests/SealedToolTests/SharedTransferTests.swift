import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

/// The failure model: the tool is killed while it imports into a store or exports it, and this process reads and writes
/// the same store.
@Suite struct SharedTransferTests {
    private static let imported = 1500

    private let folder = TemporaryFolder()
    private var store: URL { folder.file("store") }

    private func open() throws -> ManagedObjectContext {
        SealedStore.register()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: store,
                options: [SealedStore.keyOption: EncryptionKey.passphrase(Tool.passphrase)]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    private func names(_ context: ManagedObjectContext) throws -> [String] {
        context.reset()
        return try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self)
            .compactMap { if case .text(let name) = $0["name"] { name } else { nil } }
    }

    private func insert(_ name: String, in context: ManagedObjectContext) throws {
        ManagedObject(entity: context.model.entities[0], insertInto: context)["name"] = .text(name)
        try context.save()
    }

    /// Saves objects until the tool has done a random part of its work or ends, and kills it.
    private func work(
        _ arguments: [String],
        in context: ManagedObjectContext,
        _ saved: inout [String],
        _ generator: inout SeededGenerator
    ) throws {
        let process = try Tool.start(arguments)
        let isEndAwaited = generator.chance(25)
        var rest = Int.random(in: 0...300, using: &generator)
        while process.isRunning, isEndAwaited || rest > 0 {
            rest -= 1
            let name = "own \(saved.count)"
            try insert(name, in: context)
            saved.append(name)
            #expect(try context.count(FetchRequest(context.model.entities[0])) >= saved.count)
        }
        _ = process.end()
    }

    // tool                        | test
    // opens the store, imports …  | saves, reads
    //                             | kills the tool, finds all of the import or nothing of it, and all that it saved
    @Test(arguments: killCounts(6))
    func `a killed import into a store in use is one transaction`(kills: Int) throws {
        var generator = SeededGenerator()
        let context = try open()
        try insert("first", in: context)
        var saved = ["first"]
        var (rounds, complete) = (0, 0)
        for round in 0..<kills {
            let lines = (0..<Self.imported).map { "{\"_entity\":\"Item\",\"name\":\"import \(round) \($0)\"}\n" }
            try Data(lines.joined().utf8).write(to: folder.file("in.jsonl"))
            try work(
                ["import", store.path, folder.filePath("in.jsonl"), "--from", "json"],
                in: context,
                &saved,
                &generator
            )
            let found = try names(context)
            let count = found.count { $0.hasPrefix("import \(round) ") }
            #expect(count == 0 || count == Self.imported, "\(generator) round \(round)")
            #expect(found.filter { !$0.hasPrefix("import ") }.sorted() == saved.sorted(), "\(generator)")
            rounds += 1
            complete += count / Self.imported
        }
        for case let store as SealedStore in context.coordinator.persistentStores { #expect(try store.check() == []) }
        print("killed imports: \(complete) of \(rounds) complete, \(generator)")
    }

    // tool                        | test
    // reads one state, writes …   | saves, reads
    //                             | kills the tool, finds a file with one state of the store or none
    @Test(arguments: ["json", "plaintext-sqlite"], killCounts(6))
    func `a killed export of a store in use leaves nothing, or one state of it`(format: String, kills: Int) throws {
        var generator = SeededGenerator()
        let context = try open()
        var saved: [String] = []
        for number in 0..<Self.imported {
            saved.append("first \(number)")
            ManagedObject(entity: context.model.entities[0], insertInto: context)["name"] = .text("first \(number)")
        }
        try context.save()
        for round in 0..<kills {
            let target = folder.file("target\(round)")
            let before = saved.count
            try work(["export", store.path, target.path, "--to", format], in: context, &saved, &generator)
            guard FileManager.default.fileExists(atPath: target.path) else { continue }
            let count: Int?
            if format == "json" {
                count = try String(contentsOf: target, encoding: .utf8).split(separator: "\n").count
            } else {
                let result = try run("sqlite3", [target.path], input: "SELECT count(*) FROM Item;")
                count = Int(result.output.filter { $0 != "\n" })
            }
            #expect(try (before...saved.count).contains(#require(count)), "\(generator) round \(round)")
        }
        #expect(try names(context).sorted() == saved.sorted())
        #expect(try folder.names().filter { !$0.hasPrefix(".") && $0.hasPrefix("target") && $0.contains("-") } == [])
    }
}
