import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Recording of a store's history") struct HistoryRecordingTests {
    private let folder = TemporaryFolder()

    private func club(_ options: HistoryOptions? = HistoryOptions()) throws -> Club {
        try Club(folder.file("club.store"), history: options)
    }

    @Test func `a store without the option has no history, and no table for it`() throws {
        let club = try club(nil)
        _ = club.person("Ada")
        let positions = try club.context.saveReturningPositions()
        #expect(throws: PersistentHistoryError.notRecorded) { try club.coordinator.history() }
        #expect(try !club.coordinator.historyState().isRecording)
        let exists = try club.store.opened.database.read { try HistoryTable.table.exists(on: $0) }
        #expect(!exists)
        #expect(positions.isEmpty)
    }

    @Test func `saves record insertions, changed properties, deletions and their author`() throws {
        let club = try club()
        let (ada, eve) = (club.person("Ada"), club.person("Eve", "Student"))
        club.context.transactionAuthor = "importer"
        try club.context.save()
        ada["height"] = .real(1.7)
        ada["name"] = .text("Ada L.")
        club.context.transactionAuthor = nil
        try club.context.save()
        club.context.delete(eve)
        let positions = try club.context.saveReturningPositions()
        let transactions = try club.coordinator.history()
        #expect(transactions.map(\.author) == ["importer", nil, nil])
        #expect(transactions.allSatisfy { $0.isOwn && abs($0.timestamp.timeIntervalSinceNow) < 3600 })
        #expect(
            transactions.map(\.lines) == [["+ Person 1", "+ Student 2"], ["* Person 1: height name"], ["- Student 2"]]
        )
        let last = PersistentHistoryPosition(number: transactions[2].number, timestamp: transactions[2].timestamp)
        #expect(positions == [try club.store.metadata.uuid: last])
        let numbers = transactions.flatMap(\.changes).map(\.id)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(try club.check() == [])
    }

    @Test func `a save without changes, and one that fails, record nothing`() throws {
        let club = try club()
        club.insert("Passport", ["number": .integer(1)])
        try club.context.save()
        let last = try club.lastTransaction
        try club.context.save()
        club.insert("Passport", ["number": .integer(1)])
        #expect(throws: (any Error).self) { try club.context.save() }
        #expect(try club.lastTransaction == last)
        #expect(try club.check() == [])
    }

    @Test func `an object that two contexts delete is deleted once`() throws {
        let club = try club()
        let people = ["Ada", "Bob", "Cid", "Eve"].map { club.person($0) }
        try club.context.save()
        // The request of a context that has not merged the deletions of another one.
        var request = SaveChangesRequest()
        request.deleted = people.dropFirst().map { person in
            .init(entity: person.entity, key: person.managedObjectID.key, row: person.state.pointee.row)
        }
        for person in people[1...2] { club.context.delete(person) }
        try club.context.save()
        let last = try club.lastTransaction
        _ = try club.store.save(request, with: RequestContext()) {}
        #expect(try club.lines(after: last) == ["- Person 4"])
        let end = try club.lastTransaction
        _ = try club.store.save(request, with: RequestContext()) {}
        #expect(try club.lastTransaction == end)
        #expect(try club.check() == [])
    }

    @Test func `a changed relationship is a change of both sides`() throws {
        let club = try club()
        let (ada, eve) = (club.person("Ada"), club.person("Eve"))
        let teams = ["a", "b"].map { club.insert("Team", ["title": .text($0)]) }
        let group = club.insert("Group", ["label": .text("g")])
        ada.setDestination(teams[0], forRelationship: "team")
        try club.context.save()
        var last = try club.lastTransaction
        ada.setDestination(teams[1], forRelationship: "team")
        try club.context.save()
        #expect(try club.lines(after: last) == ["* Person 1: team", "* Team 1: members", "* Team 2: members"])
        last = try club.lastTransaction
        ada.add(eve, to: "friends")
        try club.context.save()
        #expect(try club.lines(after: last) == ["* Person 1: friends", "* Person 2: friends"])
        last = try club.lastTransaction
        group.add(eve, to: "people")
        group.add(ada, to: "guests")
        try club.context.save()
        #expect(try club.lines(after: last) == ["* Person 2: groups", "* Group 1: guests people"])
    }

    @Test func `a new member is a change of its owner`() throws {
        let club = try club()
        let team = club.insert("Team", ["title": .text("a")])
        try club.context.save()
        let last = try club.lastTransaction
        for number in 0..<300 { club.person("\(number)").setDestination(team, forRelationship: "team") }
        try club.context.save()
        let transaction = try #require(try club.coordinator.history(HistoryFetchRequest(after: last)).first)
        #expect(transaction.groups.count == 2)
        #expect(transaction.groups[0].keys == [1...300])
        #expect(transaction.lines.last == "* Team 1: members")
    }

    @Test func `a deletion records cascades, cleared references and tombstones`() throws {
        let club = try club()
        let (ada, eve) = (club.person("Ada"), club.person("Eve"))
        let passport = club.insert("Passport", ["number": .integer(7)])
        let team = club.insert("Team", ["title": .text("t")])
        let group = club.insert("Group", ["label": .text("g")])
        ada.setDestination(passport, forRelationship: "passport")
        ada.setDestination(team, forRelationship: "team")
        eve.setDestination(team, forRelationship: "team")
        ada.add(eve, to: "friends")
        group.add(ada, to: "people")
        group.add(ada, to: "guests")
        try club.context.save()
        var last = try club.lastTransaction
        // Another coordinator, whose context has not read the others.
        let other = try self.club(nil)
        let request = FetchRequest(other.entity("Person"))
        let fetched = try other.context.fetch(request, as: ManagedObject.self)
        other.context.delete(try #require(fetched.first { $0["name"] == .text("Ada") }))
        try other.context.save()
        let transaction = try #require(try club.coordinator.history(HistoryFetchRequest(after: last)).first)
        #expect(!transaction.isOwn)
        #expect(
            Set(transaction.lines) == [
                "- Person 1", "- Passport 1", "* Person 2: friends", "* Team 1: members", "* Group 1: guests people",
            ]
        )
        let deletion = try #require(transaction.changes.first { $0.kind == .delete && $0.objectID.key == 1 })
        #expect(deletion.values.old == ["name": .text("Ada")])
        last = try club.lastTransaction
        let team2 = try #require(
            try other.context.fetch(FetchRequest(other.entity("Team")), as: ManagedObject.self).first
        )
        other.context.delete(team2)
        try other.context.save()
        #expect(try Set(club.lines(after: last)) == ["- Team 1", "* Person 2: team"])
        #expect(try club.check() == [])
    }

    @Test func `batch requests record the objects that they insert, change and delete`() throws {
        let club = try club()
        let team = club.insert("Team", ["title": .text("t")])
        try club.context.save()
        var last = try club.lastTransaction
        let people = (0..<1000).map { ["name": Value.text("\($0)"), "team": .integer(team.key)] }
        club.context.transactionAuthor = "batch"
        try club.context.execute(BatchInsertRequest(club.entity("Student"), objects: people))
        var transaction = try #require(try club.coordinator.history(HistoryFetchRequest(after: last)).first)
        #expect(transaction.groups.map(\.count) == [1000, 1])
        #expect(transaction.lines.last == "* Team 1: members")
        #expect(transaction.author == "batch")
        last = try club.lastTransaction
        var update = BatchUpdateRequest(club.entity("Person"), propertiesToUpdate: ["height": .literal(.real(2))])
        update.propertiesToUpdate["team"] = .literal(.null)
        try club.context.execute(update)
        transaction = try #require(try club.coordinator.history(HistoryFetchRequest(after: last)).first)
        #expect(transaction.groups.map(\.entity.name) == ["Student", "Team"])
        #expect(transaction.lines.first == "* Student 1: height team" && transaction.groups[0].keys == [1...1000])
        last = try club.lastTransaction
        try club.context.execute(BatchDeleteRequest(club.entity("Person")))
        transaction = try #require(try club.coordinator.history(HistoryFetchRequest(after: last)).first)
        #expect(transaction.changes.count == 1000 && transaction.changes.allSatisfy { $0.kind == .delete })
        #expect(transaction.changes[17].values.old == ["name": .text("17")])
        #expect(try club.check() == [])
    }

    @Test func `the erasure of a store records each object`() throws {
        let club = try club()
        for number in 0..<20 { _ = club.person("\(number)", number.isMultiple(of: 2) ? "Person" : "Student") }
        club.insert("Team", ["title": .text("t")])
        try club.context.save()
        let last = try club.lastTransaction
        try club.coordinator.eraseStores()
        let lines = try club.lines(after: last)
        #expect(lines.count == 21 && lines.contains("- Student 2") && lines.contains("- Team 1"))
        #expect(try club.check() == [])
    }

    @Test func `an update by a unique value is recorded as the update of the existing object`() throws {
        let club = try club()
        club.insert("Passport", ["number": .integer(1)])
        let person = club.person("Ada")
        try club.context.save()
        let last = try club.lastTransaction
        club.context.mergePolicy = .mergeByPropertyObjectTrump
        let passport = club.insert("Passport", ["number": .integer(1)])
        passport.setDestination(person, forRelationship: "holder")
        try club.context.save()
        #expect(try Set(club.lines(after: last)) == ["* Passport 1: holder", "* Person 1: passport"])
    }

    @Test func `a transaction of many scattered keys is in several rows, with a number for each change`() throws {
        let club = try club()
        for number in 0..<30_000 { _ = club.person("\(number)") }
        try club.context.save()
        let people = try club.context.fetch(FetchRequest(club.entity("Person")), as: ManagedObject.self)
        for (position, person) in people.enumerated() where position.isMultiple(of: 2) { person["height"] = .real(1) }
        try club.context.save()
        let transactions = try club.coordinator.history()
        #expect(transactions[1].number > transactions[0].number)
        let changes = transactions[1].changes
        let keys = stride(from: Int64(1), to: 30_000, by: 2).map { $0 }
        #expect(changes.map(\.objectID.key) == keys)
        #expect(Set(changes.map(\.id)).count == 15_000)
        #expect(try club.check() == [])
    }

    @Test func `a malformed row is a problem of the store, and an error of its reader`() throws {
        let club = try club()
        _ = club.person("Ada")
        try club.context.save()
        let number = try club.lastTransaction
        var random = SeededGenerator()
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try bytes.withUnsafeBytes { bytes in
                var decoder = HistoryDecoder(bytes, row: 1, model: club.coordinator.model, renamings: [])
                _ = try? decoder.groups()
                try club.store.opened.database.write { connection in
                    try connection.withStatement(#"UPDATE "_history" SET "changes" = ?"#) { statement in
                        try statement.bind(blob: bytes, at: 1)
                        try statement.run()
                    }
                }
            }
            let isReadable = (try? club.coordinator.history()) != nil
            let expected: [StoreProblem] =
                isReadable ? [] : [StoreProblem(.damagedHistory, count: 1, firstKey: number)]
            #expect(try HistoryRecordingTests.problems(club) == expected, "\(random)")
        }
    }

    private static func problems(_ club: Club) throws -> [StoreProblem] {
        try club.store.opened.database.read {
            try HistoryCheck(connection: $0, model: club.coordinator.model).problems()
        }
    }
}
