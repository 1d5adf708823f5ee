import EncryptedSQLite
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Programs with different models use a file at the same time.
@Suite(.serialized) struct SetAsideSharingTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    // container with all entities | container with fewer
    // opens, reads                |
    //                             | opens, saves, deletes
    // reads, saves                |
    //                             | reads, saves
    @Test func `a container with fewer entities and one with all have the file open`() throws {
        try Trips.write(url, options: [SealedStore.historyOption: HistoryOptions()])
        let full = try MigratingStore(url, Trips.full)
        #expect(try full.objects("Note").count == 2)
        let smaller = try MigratingStore(url, Trips.without("Trip.rating", of: Trips.withoutNotes))
        try smaller.object("Trip", named: "Oslo").map(smaller.context.delete)
        smaller.insert("Trip", ["name": .text("Bonn"), "days": .integer(1)])
        try smaller.context.save()
        full.context.refreshAllObjects()
        let note = try #require(try full.object("Note", named: "m"))
        #expect(note.destination(forRelationship: "trip") == nil)
        let bonn = try #require(try full.object("Trip", named: "Bonn"))
        bonn["rating"] = .real(1)
        note.setDestination(bonn, forRelationship: "trip")
        try full.context.save()
        try smaller.object("Trip", named: "Bonn").map(smaller.context.delete)
        smaller.context.refreshAllObjects()
        try smaller.object("Trip", named: "Bonn").map(smaller.context.delete)
        try smaller.context.save()
        #expect(try smaller.problems() == [])
        #expect(try full.problems() == [])
        try smaller.close()
        try full.close()
        #expect(try Trips.content(url, Trips.full).count == 7)
    }

    @Test func `the history has the cleared references of what is set aside`() throws {
        try Trips.write(url, options: [SealedStore.historyOption: HistoryOptions()])
        let full = try MigratingStore(url, Trips.full)
        let smaller = try MigratingStore(url, Trips.withoutNotes)
        try smaller.object("Trip", named: "Oslo").map(smaller.context.delete)
        try smaller.context.save()
        let transaction = try #require(try full.coordinator.history().last)
        let notes = transaction.groups.filter { $0.entity.name == "Note" }
        #expect(notes.map(\.kind) == [.update])
        #expect(notes.flatMap(\.updatedProperties).map(\.name) == ["trip"])
        try smaller.close()
        try full.close()
    }

    @Test func `a container whose property becomes optional has to be opened again`() throws {
        try Trips.write(url)
        let full = try MigratingStore(url, Trips.full)
        #expect(try full.objects("Trip").count == 2)
        try MigratingStore(url, Trips.without("Trip.days")).close()
        #expect(throws: SealedStoreError.self) { _ = try full.objects("Trip") }
        try full.close()
    }

    @Test func `a removal ends the use of what is removed`() throws {
        try Trips.write(url)
        let full = try MigratingStore(url, Trips.full)
        let smaller = try MigratingStore(url, Trips.withoutNotes)
        let other = try MigratingStore(url, Trips.withoutNotes)
        #expect(try full.objects("Note").count == 2 && other.objects("Trip").count == 2)
        try smaller.store().removeSetAside()
        #expect(throws: SealedStoreError.self) { _ = try full.objects("Note") }
        try other.object("Trip", named: "Oslo").map(other.context.delete)
        try other.context.save()
        for store in [full, smaller, other] { try store.close() }
    }

    // this process, with loans and colours | journal-writer, without them
    // opens                                |
    //                                      | opens, inserts and deletes books
    // reads and saves                      |
    @Test func `another process with fewer entities and properties keeps the rest`() throws {
        var model = try Bookcase.model().declarations
        model[0].attributes.append(.init("colour", .string, isOptional: true))
        model.append(
            EntityDescription("Loan", attributes: [Trips.name], relationships: [.init("book", to: "Book", .one)])
        )
        let coordinator = try openCoordinator(
            url,
            model: ManagedObjectModel(entities: model),
            history: HistoryOptions()
        )
        let context = ManagedObjectContext(coordinator: coordinator)
        let shelf = Bookcase.insertShelf("s", in: context)
        shelf["colour"] = .text("red")
        for number in 1...3 {
            let book = try Bookcase.insertBook(number, in: context)
            let loan = ManagedObject(entity: context.model.entitiesByName["Loan"]!, insertInto: context)
            loan["name"] = .text("loan \(number)")
            loan.setDestination(book, forRelationship: "book")
        }
        try context.save()
        let writer = try WriterProcess(url, "commands")
        writer.waitForLines(1)
        for command in ["insert 4", "delete 2"] { writer.run(command) }
        context.refreshAllObjects()
        #expect(try Bookcase.all("Book", in: context).count == 3)
        let loans = try Bookcase.all("Loan", in: context)
        #expect(loans.map { $0.destination(forRelationship: "book") != nil } == [true, false, true])
        #expect(try Bookcase.all("Shelf", in: context).map { $0["colour"] } == [.text("red")])
        loans[1]["name"] = .text("changed")
        try context.save()
        writer.run("insert 5")
        _ = writer.end()
        #expect(try context.storeProblems() == [])
        try coordinator.removeAllStores()
    }

    @Test func `a runtime issue names what is set aside`() throws {
        try Trips.write(url)
        let messages = Guarded<[String]>([])
        let previous = RuntimeIssues.handler
        let path = url.path
        RuntimeIssues.handler = { message in
            if message.contains(path) { messages.withLock { $0.append(message) } } else { previous(message) }
        }
        defer { RuntimeIssues.handler = previous }
        for _ in 0..<2 { try MigratingStore(url, Trips.without("Trip.rating", of: Trips.withoutNotes)).close() }
        #expect(messages.withLock(\.count) == 1)
        #expect(messages.withLock { $0.first?.contains("'Trip.rating', 'Note'") ?? false })
        try MigratingStore(url, Trips.full).close()
        #expect(messages.withLock(\.count) == 1)
    }
}
