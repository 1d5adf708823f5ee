import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Salvages whose losses cannot be counted, because the roots of tables are damaged.
@Suite struct UncertainSalvageTests {
    private let folder = TemporaryFolder()

    /// - Parameter added: A further attribute of the notes, which a migration adds without writing them.
    private static func model(adding added: AttributeDescription? = nil) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Place",
                attributes: [
                    .init("note", .string, isOptional: true), .init("x", .double, isOptional: true),
                    .init("y", .double, isOptional: true),
                ],
                indexes: [.init(["x", "y"], kind: .rtree)]
            ),
            EntityDescription("Note", attributes: [AttributeDescription("text", .string)] + [added].compactMap(\.self)),
        ])
    }

    private func open(_ name: String, adding added: AttributeDescription? = nil) throws -> ManagedObjectContext {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try Self.model(adding: added))
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: folder.file(name),
                options: [SealedStore.keyOption: Library.key]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    /// Writes 3,000 objects of each entity, and closes the store.
    ///
    /// - Returns: The first pages of the tables, by name, and the number of pages.
    private func fill() throws -> (roots: [String: Int], pageCount: Int) {
        let context = try open("damaged.store")
        for number in 0..<3_000 {
            let place = ManagedObject(entity: context.model.entitiesByName["Place"]!, insertInto: context)
            place["note"] = .text("place \(number)")
            place["x"] = .real(Double(number))
            place["y"] = .real(1)
            let note = ManagedObject(entity: context.model.entitiesByName["Note"]!, insertInto: context)
            note["text"] = .text("note \(number) " + String(repeating: "x", count: 100))
        }
        try context.save()
        let store = try #require(context.coordinator.sealedStores.first)
        let roots = try store.opened.database.read { connection in
            try connection.withStatement("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'") { row in
                var roots: [String: Int] = [:]
                while try row.step() { roots[row.string(at: 0)] = Int(row.integer(at: 1)) }
                return roots
            }
        }
        try context.coordinator.removeAllStores()
        return (roots, try Data(contentsOf: folder.file("damaged.store")).count / 4096)
    }

    private func damage(_ pages: [Int]) throws {
        var bytes = try Data(contentsOf: folder.file("damaged.store"))
        for page in pages { bytes[(page - 1) * 4096 + 1000] ^= 1 }
        try bytes.write(to: folder.file("damaged.store"))
    }

    private func salvage() throws -> SalvageReport {
        try SealedStore.salvage(folder.file("damaged.store"), key: Library.key, to: folder.file("new.store"))
    }

    private func recovered(_ entity: String) throws -> [ManagedObject] {
        let context = try open("new.store")
        return try context.fetch(FetchRequest(context.model.entitiesByName[entity]!), as: ManagedObject.self)
    }

    @Test func `a salvage with a damaged root and a damaged leaf is not complete`() throws {
        let (roots, pageCount) = try fill()
        // The leaves of the larger table fill most of the file.
        try damage([try #require(roots["Note"]), pageCount / 2, pageCount / 2 + 1])
        let report = try salvage()
        let notes = try #require(report.entities.first { $0.entity == "Note" })
        #expect(report.damagedPageCount == 3)
        #expect(notes.recoveredCount > 2_000)
        #expect(!report.isComplete, "\(report.entities)")
    }

    @Test func `leaves below a damaged root are recovered, although their rows are older than a column`() throws {
        let (roots, _) = try fill()
        let added = AttributeDescription("author", .string, isOptional: true)
        try open("damaged.store", adding: added).coordinator.removeAllStores()
        try damage([try #require(roots["Note"])])
        let report = try salvage()
        let notes = try #require(report.entities.first { $0.entity == "Note" })
        #expect(notes.recoveredCount == 3_000)
        let context = try open("new.store", adding: added)
        let found = try context.fetch(FetchRequest(context.model.entitiesByName["Note"]!), as: ManagedObject.self)
        #expect(found.allSatisfy { $0["text"] != .null && $0["author"] == .null })
        for store in context.coordinator.sealedStores { #expect(try store.check() == []) }
    }

    @Test func `rows of an R-tree do not become objects`() throws {
        let (roots, _) = try fill()
        try damage([try #require(roots["Place"]), try #require(roots["_rtree_Place_x_y_rowid"])])
        let report = try salvage()
        #expect(!report.isComplete)
        let places = try recovered("Place")
        #expect(places.count > 2_000)
        #expect(places.filter { $0["note"] == .null || $0["x"] == .null }.isEmpty)
    }

    @Test func `keys are not given again after the sequence is lost`() throws {
        let (roots, _) = try fill()
        try damage([try #require(roots["_sequence"])])
        _ = try salvage()
        let context = try open("new.store")
        let note = ManagedObject(entity: context.model.entitiesByName["Note"]!, insertInto: context)
        note["text"] = .text("new")
        try context.save()
        #expect(note.managedObjectID.key >= 1 << 32)
        for store in context.coordinator.sealedStores { #expect(try store.check() == []) }
    }
}
