import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Limits of the history") struct HistoryTrimmingTests {
    private let folder = TemporaryFolder()

    private var url: URL { folder.file("club.store") }

    private func fill(_ club: Club, _ count: Int) throws {
        for number in 0..<count {
            _ = club.person("\(number)")
            try club.context.save()
        }
    }

    @Test func `a transaction with a time in the future does not stop the trimming by age`() throws {
        let club = try Club(url, history: HistoryOptions(maximumAge: 3600))
        try fill(club, 6)
        try club.store.opened.database.write { connection in
            let now = Date().timeIntervalSinceReferenceDate
            try connection.execute(#"UPDATE "_history" SET "timestamp" = \#(now + 1e6) WHERE "_id" IN (1, 5)"#)
            try connection.execute(#"UPDATE "_history" SET "timestamp" = \#(now - 7200) WHERE "_id" IN (2, 3)"#)
        }
        #expect(try club.store.trimHistory() == 3)
        #expect(try club.lines() == ["+ Person 4", "+ Person 5", "+ Person 6"])
    }

    @Test func `the limit of the size counts authors, names and rows`() throws {
        let club = try Club(url, history: HistoryOptions(maximumByteCount: 20_000))
        club.context.transactionAuthor = String(repeating: "ä", count: 100)
        try fill(club, 200)
        try club.store.trimHistory()
        let kept = try club.lines().count
        #expect((40...85).contains(kept), "each transaction has more than 240 bytes: \(kept)")
    }

    @Test func `values can be passed over`() throws {
        let club = try Club(url, history: HistoryOptions(recordsValues: true))
        let person = club.person("a")
        let group = club.insert("Group", ["label": "g"])
        try club.context.save()
        person["height"] = .real(2)
        group.add(person, to: "people")
        try club.context.save()
        club.context.delete(person)
        try club.context.save()
        var request = HistoryFetchRequest()
        let all = try club.coordinator.history(request)
        request.includesValues = false
        let plain = try club.coordinator.history(request)
        #expect(plain.map(\.lines) == all.map(\.lines))
        #expect(plain.flatMap(\.groups).allSatisfy { $0.values.isEmpty })
        #expect(!all.flatMap(\.groups).allSatisfy { $0.values.isEmpty })
    }

    // club                 | backup                | a reader
    // saves twice          |                       |
    //                      | is made               |
    // saves                |                       | reads all transactions
    //                      | replaces the club     |
    //                      | saves three times     | has a number that the backup has given again
    @Test func `a reader of later transactions gets an error from an earlier backup that has overtaken it`() throws {
        let club = try Club(url)
        try fill(club, 2)
        let common = try #require(try club.coordinator.history().last)
        try club.store.backUp(to: folder.file("backup.store"))
        try fill(club, 1)
        let known = try #require(try club.coordinator.history().last)
        let backup = try Club(folder.file("backup.store"))
        try fill(backup, 3)
        func request(_ transaction: PersistentHistoryTransaction) -> HistoryFetchRequest {
            var request = HistoryFetchRequest(after: transaction.number)
            request.afterTimestamp = transaction.timestamp
            return request
        }
        #expect(try backup.coordinator.history(request(common)).count == 3)
        #expect(throws: PersistentHistoryError.expired(lastDeleted: 0)) {
            try backup.coordinator.history(request(known))
        }
        // Also if the transaction with the number was deleted.
        try backup.coordinator.deleteHistory(HistoryDeletionRequest(.through(known.number)))
        #expect(throws: PersistentHistoryError.expired(lastDeleted: known.number)) {
            try backup.coordinator.history(request(known))
        }
        try club.coordinator.deleteHistory(HistoryDeletionRequest(.through(known.number)))
        #expect(try club.coordinator.history(request(known)).isEmpty)
        #expect(try Club(folder.file("backup.store")).check() == [])
    }
}
