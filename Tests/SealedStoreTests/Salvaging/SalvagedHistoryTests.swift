import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The history and the global identifiers of salvaged stores.
@Suite struct SalvagedHistoryTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("damaged.store") }

    /// What readers know of a store before its damage.
    private struct Known {
        var lastTransaction: Int64 = 0
        /// The global identifiers by key, also those of deleted people.
        var identifiers: [Int64: UUID] = [:]
        /// The first pages of the tables and of the indexes of constraints, by name.
        var roots: [String: Int] = [:]
    }

    /// Writes a transaction for each of some people, deletes one of them, and closes the store.
    private func fill(_ options: HistoryOptions, people count: Int = 20) throws -> Known {
        let club = try Club(url, history: options)
        var known = Known()
        for number in 0..<count {
            let person = club.person("person \(number)")
            try club.context.save()
            known.identifiers[person.key] = try club.store.globalIdentifier(of: person.managedObjectID)
            guard number == count - 1 else { continue }
            club.context.delete(person)
            try club.context.save()
        }
        known.lastTransaction = try club.lastTransaction
        known.roots = try club.store.opened.database.read { connection in
            try connection.withStatement("SELECT name, rootpage FROM sqlite_schema") { row in
                var roots: [String: Int] = [:]
                while try row.step() { roots[row.string(at: 0)] = Int(row.integer(at: 1)) }
                return roots
            }
        }
        try club.coordinator.removeAllStores()
        return known
    }

    private func damage(_ table: String, _ known: Known) throws {
        let page = try #require(known.roots[table])
        var bytes = try Data(contentsOf: url)
        bytes[(page - 1) * 4096 + 1000] ^= 1
        try bytes.write(to: url)
    }

    private func salvage() throws -> SalvageReport {
        try SealedStore.salvage(url, key: Club.key, to: folder.file("new.store"))
    }

    private func open(_ options: HistoryOptions? = HistoryOptions()) throws -> Club {
        try Club(folder.file("new.store"), history: options)
    }

    /// Checks that a reader of the damaged store gets an error, and that its number is not used again.
    private func expectContinuation(_ club: Club, behind known: Known) throws {
        #expect(throws: PersistentHistoryError.self) {
            try club.coordinator.history(HistoryFetchRequest(after: known.lastTransaction))
        }
        let last = try club.lastTransaction
        _ = club.person("new")
        try club.context.save()
        #expect(try club.lastTransaction > max(last, known.lastTransaction))
        #expect(try club.lines(after: last).count == 1)
        #expect(try club.check() == [])
    }

    @Test(arguments: [nil, HistoryOptions()])
    func `the history continues behind its last number`(options: HistoryOptions?) throws {
        let known = try fill(HistoryOptions(recordsValues: true))
        let report = try salvage()
        #expect(report.isComplete, "\(report)")
        let club = try open(options)
        #expect(try club.lastTransaction == known.lastTransaction + 1)
        try expectContinuation(club, behind: known)
        #expect(try club.coordinator.history().last?.changes.first?.values.isEmpty == false, "values are recorded")
    }

    @Test func `no number is used again if the last transactions cannot be read`() throws {
        let known = try fill(HistoryOptions())
        try damage("_history", known)
        _ = try salvage()
        let club = try open()
        #expect(try club.lastTransaction >= 1 << 32)
        try expectContinuation(club, behind: known)
    }

    /// The arguments are offsets in the log's header, of a salt of the second frame, and from the end of the log, in the
    /// page, the salt and the size of the last frame.
    @Test(arguments: [10, 32 + 24 + 4096 + 8, -1000, -4096 - 16, -4096 - 17])
    func `no number is used again if the transactions in the log cannot be read`(offset: Int) throws {
        var known = try fill(HistoryOptions())
        let club = try Club(url, history: HistoryOptions())
        for number in 0..<3 {
            _ = club.person("in the log \(number)")
            try club.context.save()
        }
        known.lastTransaction = try club.lastTransaction
        let files = ["", "-wal"].map { url.path + $0 }
        let contents = try files.map { try Data(contentsOf: URL(filePath: $0)) }
        try club.coordinator.removeAllStores()
        for (file, content) in zip(files, contents) { try content.write(to: URL(filePath: file)) }
        var log = contents[1]
        log[offset < 0 ? log.count + offset : offset] ^= 1
        try log.write(to: URL(filePath: files[1]))
        _ = try salvage()
        try expectContinuation(open(), behind: known)
    }

    @Test func `no number is used again if the record of the history is lost`() throws {
        let known = try fill(HistoryOptions(identifiesObjects: true))
        let club = try Club(url)
        try club.store.opened.database.write { connection in
            try connection.execute(#"UPDATE "_metadata" SET "value" = 'lost' WHERE "key" = 'history'"#)
        }
        try club.coordinator.removeAllStores()
        let report = try salvage()
        #expect(report.entities.first?.recoveredCount == 19)
        #expect(report.lostIdentifierCount == 19 && !report.isComplete)
        try expectContinuation(open(), behind: known)
    }

    @Test func `no number is used again if all metadata are lost`() throws {
        let known = try fill(HistoryOptions())
        try damage("_metadata", known)
        _ = try SealedStore.salvage(
            url,
            key: Club.key,
            to: folder.file("new.store"),
            model: ManagedObjectModel(entities: Club.declarations())
        )
        try expectContinuation(open(), behind: known)
    }

    @Test func `no number is used again after a history was removed`() throws {
        let known = try fill(HistoryOptions())
        let club = try Club(url)
        try club.store.removeHistory()
        try club.coordinator.removeAllStores()
        _ = try salvage()
        try expectContinuation(open(), behind: known)
    }

    @Test(arguments: [nil, "_identity"]) func `objects keep their global identifiers`(damaged: String?) throws {
        let known = try fill(HistoryOptions(identifiesObjects: true), people: 200)
        #expect(known.identifiers.count == 200)
        // The index of the constraint has the same values.
        if let damaged { try damage(damaged, known) }
        let report = try salvage()
        #expect(report.lostIdentifierCount == 0 && report.isComplete, "\(report)")
        let club = try open()
        for (key, identifier) in known.identifiers {
            let id = try ManagedObjectID(entity: club.entity("Person"), storeUUID: club.store.metadata.uuid, key: key)
            #expect(try club.store.globalIdentifier(of: id) == identifier, "\(key)")
        }
        let person = club.person("new")
        try club.context.save()
        #expect(try club.store.globalIdentifier(of: person.managedObjectID) != nil)
    }

    @Test func `lost global identifiers are reported, and replaced by new ones`() throws {
        let known = try fill(HistoryOptions(identifiesObjects: true))
        try damage("_identity", known)
        try damage(try #require(known.roots.keys.first { $0.hasPrefix("sqlite_autoindex__identity") }), known)
        let report = try salvage()
        #expect(report.lostIdentifierCount == 19 && !report.isComplete)
        let club = try open()
        let people = try club.context.fetchIDs(FetchRequest(club.entity("Person")))
        let identifiers = try people.compactMap { try club.store.globalIdentifier(of: $0) }
        #expect(Set(identifiers).count == 19 && Set(identifiers).isDisjoint(with: known.identifiers.values))
        #expect(try club.check() == [])
    }
}
