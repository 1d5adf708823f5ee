import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The history as a property of the file") struct HistoryFileTests {
    private let folder = TemporaryFolder()

    private var url: URL { folder.file("club.store") }

    @Test func `a program without the option continues the history`() throws {
        let first = try Club(url)
        _ = first.person("Ada")
        try first.context.save()
        let last = try first.lastTransaction
        let second = try Club(url, history: nil)
        _ = second.person("Eve")
        try second.context.save()
        let others = HistoryFetchRequest(after: last)
        var request = others
        request.excludesOwn = true
        #expect(try first.coordinator.history(request).map(\.isOwn) == [false])
        #expect(try second.coordinator.history(request).isEmpty)
        #expect(try second.coordinator.history(others).map(\.isOwn) == [true])
    }

    @Test func `an open store records from the moment another program begins the history`() throws {
        let first = try Club(url, history: nil)
        _ = first.person("Ada")
        try first.context.save()
        let second = try Club(url)
        _ = first.person("Eve")
        try first.context.save()
        #expect(try second.lines() == ["+ Person 2"])
        try second.store.removeHistory()
        _ = first.person("Bob")
        try first.context.save()
        #expect(throws: PersistentHistoryError.notRecorded) { try second.coordinator.history() }
        #expect(try second.check() == [])
    }

    @Test func `no number is used again, and readers of deleted transactions get an error`() throws {
        let club = try Club(url)
        for name in ["a", "b", "c"] {
            _ = club.person(name)
            try club.context.save()
        }
        let numbers = try club.coordinator.history().map(\.number)
        #expect(try club.coordinator.deleteHistory(HistoryDeletionRequest(.through(numbers[1]))) == 2)
        #expect(try club.coordinator.history().map(\.number) == [numbers[2]])
        #expect(throws: PersistentHistoryError.expired(lastDeleted: numbers[1])) {
            try club.coordinator.history(HistoryFetchRequest(after: numbers[0]))
        }
        #expect(try club.coordinator.history(HistoryFetchRequest(after: numbers[1])).count == 1)
        #expect(try club.coordinator.deleteHistory(HistoryDeletionRequest(.numbers(numbers))) == 1)
        let state = try club.coordinator.historyState()
        #expect(state.lastTransaction == numbers[2] && state.lastDeletedTransaction == numbers[2])
        // The reader has missed nothing.
        #expect(try club.coordinator.history(HistoryFetchRequest(after: state.lastTransaction)).isEmpty)
        _ = club.person("d")
        try club.context.save()
        #expect(try club.lastTransaction > numbers[2])
        #expect(try club.check() == [])
        try club.store.removeHistory()
        let last = try Club(url).coordinator.historyState()
        #expect(last.lastDeletedTransaction > numbers[2])
        #expect(throws: PersistentHistoryError.self) {
            try club.coordinator.history(HistoryFetchRequest(after: numbers[2]))
        }
        #expect(try club.check() == [])
    }

    @Test func `the history is trimmed by count, age and size`() throws {
        let club = try Club(url, history: HistoryOptions(maximumCount: 3))
        for number in 0..<10 {
            _ = club.person("\(number)")
            try club.context.save()
        }
        #expect(try club.store.trimHistory() > 0)
        #expect(try club.lines() == ["+ Person 8", "+ Person 9", "+ Person 10"])
        let bySize = try Club(url, history: HistoryOptions(maximumByteCount: 1))
        #expect(try bySize.store.trimHistory() == 3)
        for number in 0..<400 {
            _ = bySize.person("\(number)")
            try bySize.context.save()
        }
        #expect(try bySize.lines().count < 400, "saves trim the history")
        let byAge = try Club(url, history: HistoryOptions(maximumAge: 3600))
        #expect(try byAge.store.trimHistory() == 0)
        try byAge.store.opened.database.write { try $0.execute(#"UPDATE "_history" SET "timestamp" = 0"#) }
        #expect(try byAge.store.trimHistory() > 0)
        #expect(try byAge.lines() == [])
        #expect(try byAge.check() == [])
    }

    @Test func `copies and a change of the key carry the history along`() throws {
        let club = try Club(url)
        for name in ["a", "b"] {
            _ = club.person(name)
            try club.context.save()
        }
        let lines = try club.lines()
        try club.store.backUp(to: folder.file("backup.store"))
        try club.store.compact(into: folder.file("compact.store"))
        for name in ["backup.store", "compact.store"] {
            let copy = try Club(folder.file(name), history: nil)
            #expect(try copy.lines() == lines, "\(name)")
            #expect(try copy.check() == [], "\(name)")
        }
        try club.store.changeKey(to: .passphrase("another one"))
        _ = club.person("c")
        try club.context.save()
        #expect(try club.lines() == lines + ["+ Person 3"])
        #expect(try club.check() == [])
    }

    // club                 | backup               | a reader
    // saves twice          |                      |
    //                      | is made              |
    // saves                |                      | reads all transactions
    //                      | replaces the club    | has a number that the backup gives again
    @Test func `a reader of later transactions gets an error from an earlier backup`() throws {
        let club = try Club(url)
        for name in ["a", "b"] {
            _ = club.person(name)
            try club.context.save()
        }
        let common = try club.lastTransaction
        try club.store.backUp(to: folder.file("backup.store"))
        _ = club.person("c")
        try club.context.save()
        let known = try club.lastTransaction
        try club.coordinator.removeAllStores()
        let backup = try Club(folder.file("backup.store"))
        #expect(try backup.coordinator.history(HistoryFetchRequest(after: common)).isEmpty)
        #expect(throws: PersistentHistoryError.expired(lastDeleted: 0)) {
            try backup.coordinator.history(HistoryFetchRequest(after: known))
        }
    }

    @Test func `rows with invalid keys neither end the process nor give transactions their numbers`() throws {
        let club = try Club(url, history: HistoryOptions(maximumAge: 3600))
        try club.store.opened.database.write {
            try $0.execute(
                """
                INSERT INTO "_history" ("_id", "parts", "timestamp") \
                VALUES (-9223372036854775807 - 1, 0, \(Date().timeIntervalSinceReferenceDate))
                """
            )
        }
        _ = club.person("a")
        #expect(throws: SealedStoreError.self) { try club.context.save() }
        #expect(try club.store.trimHistory() == 0)
        try club.store.removeHistory()
        try club.context.save()
        #expect(try Club(url).coordinator.historyState().lastTransaction == 1)
    }

    @Test func `a record without its table, and a table without its record, are a foreign schema`() throws {
        let club = try Club(url)
        _ = club.person("a")
        try club.context.save()
        try club.store.opened.database.write { try $0.execute(#"DELETE FROM "_metadata" WHERE "key" = 'history'"#) }
        try club.coordinator.removeAllStores()
        #expect(throws: SealedStoreError.foreignSchema(object: "_history")) { try Club(url) }
    }

    @Test func `a migration keeps the history under the new names`() throws {
        let old = EntityDescription(
            "Pet",
            attributes: [AttributeDescription("name", .string), AttributeDescription("age", .int64)]
        )
        let options: [String: any Sendable] = [SealedStore.historyOption: HistoryOptions()]
        let before = try MigratingStore(url, [old, EntityDescription("Toy")], options: options)
        let pet = before.insert("Pet", ["name": .text("a"), "age": .integer(1)])
        before.insert("Toy")
        try before.context.save()
        pet["name"] = .text("b")
        pet["age"] = .integer(2)
        try before.saveAndClose()
        let new = EntityDescription(
            "Animal",
            attributes: [AttributeDescription("title", .string, renamingIdentifier: "name")],
            renamingIdentifier: "Pet"
        )
        let after = try MigratingStore(url, [new])
        #expect(
            try after.coordinator.history().map(\.lines) == [["+ Animal 1"], ["* Animal 1: title"]]
        )
        after.insert("Animal", ["title": .text("c")])
        try after.context.save()
        #expect(try after.coordinator.history().flatMap(\.lines).last?.hasPrefix("+ Animal ") ?? false)
        #expect(try after.store().check() == [])
    }

    @Test func `a migration that gives objects other keys ends the history before it`() throws {
        let options: [String: any Sendable] = [SealedStore.historyOption: HistoryOptions()]
        let before = try MigratingStore(url, [EntityDescription("Cat"), EntityDescription("Dog")], options: options)
        before.insert("Cat")
        try before.context.save()
        before.insert("Dog")
        try before.context.save()
        let known = try #require(try before.coordinator.history().first).number
        try before.close()
        let after = try MigratingStore(
            url,
            [
                EntityDescription("Animal"), EntityDescription("Cat", superentity: "Animal"),
                EntityDescription("Dog", superentity: "Animal"),
            ]
        )
        #expect(throws: PersistentHistoryError.self) {
            try after.coordinator.history(HistoryFetchRequest(after: known))
        }
        #expect(try after.coordinator.history().isEmpty)
        #expect(try after.store().check() == [])
    }
}
