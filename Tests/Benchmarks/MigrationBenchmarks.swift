import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import Testing

/// Migrations that rebuild a table, beside the same statements by hand. The peak memory of a result is that of the
/// migration.
enum MigrationBenchmarks {
    static func all(_ bench: Workbench) throws -> [Benchmark] {
        let file = bench.folder.appending(path: "migrated.store")
        try create(file, bench)
        return [
            Benchmark(
                operation: "migrate: remove an attribute",
                budget: 1.3,
                rows: bench.rows,
                ours: {
                    try bench.withCopy(of: file) { copy in
                        try nanoseconds { try open(copy, bench, removing: "isMarked").close() }
                    }
                },
                baseline: {
                    try bench.withCopy(of: file) { copy in
                        try nanoseconds {
                            try HandWrittenDatabase(copy, .raw(bench.key), creates: false).removeMark()
                        }
                    }
                }
            )
        ]
    }

    private static func model(removing name: String?) throws -> ManagedObjectModel {
        let attributes: [AttributeDescription] = [
            .init("number", .int64), .init("weight", .double), .init("name", .string), .init("note", .string),
            .init("date", .date), .init("isMarked", .bool),
        ]
        return try ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: attributes.filter { $0.name != name })
        ])
    }

    /// An open store.
    private struct Opened {
        let context: ManagedObjectContext

        func close() throws { try context.coordinator.removeAllStores() }
    }

    private static func open(_ file: URL, _ bench: Workbench, removing name: String? = nil) throws -> Opened {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try model(removing: name))
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: file,
                options: [SealedStore.keyOption: EncryptionKey.raw(bench.key)]
            )
        )
        return Opened(context: ManagedObjectContext(coordinator: coordinator))
    }

    private static func create(_ file: URL, _ bench: Workbench) throws {
        let opened = try open(file, bench)
        let entity = opened.context.model.entities[0]
        for number in 0..<bench.rows {
            let item = ManagedObject(entity: entity, insertInto: opened.context)
            item["number"] = .integer(Int64(number))
            item["weight"] = .real(Double(number) / 3)
            item["name"] = .text("item \(number)")
            item["note"] = .text(String(repeating: "note ", count: number % 20))
            item["date"] = .real(Double(number))
            item["isMarked"] = .integer(Int64(number % 2))
        }
        try opened.context.save()
        try opened.close()
    }
}
