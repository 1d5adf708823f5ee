import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A store recognizes its own change sets, however many it has made since for the same position.
@Suite("Change sets that the log has not answered") struct OutstandingChangeSetTests {
    private let folder = TemporaryFolder()

    private func makeChangeSets(_ store: Branch, _ party: ManagedObject, _ count: Int) throws -> ChangeSet {
        try store.set(party, "note", "sent")
        let sent = try #require(try store.coordinator.changeSet())
        for number in 0..<count {
            try store.set(party, "note", .text("\(number)"))
            _ = try store.coordinator.changeSet()
        }
        return sent
    }

    // store                     | log
    // makes a change set        | appends it; the answer is lost
    // saves, makes a change set | cannot be reached
    // … many times              |
    // receives the first one    |
    @Test(arguments: [1, 32, 33, 1000])
    func `an own change set is acknowledged after others for the same position`(count: Int) throws {
        let url = folder.file("first.store")
        let first = try Branch(url)
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(ChangeLog())
        let sent = try makeChangeSets(first, party, count)
        #expect(try first.store.check() == [])
        let policies: [MergePolicy] = [
            .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ]
        for (number, policy) in policies.enumerated() {
            let copy = folder.file("copy-\(number).store")
            try first.store.backUp(to: copy)
            let store = try Branch(copy)
            let result = try store.coordinator.apply(sent, mergePolicy: policy)
            #expect(result.outcome == .acknowledged, "\(policy)")
            #expect(try store.only("Party")?["note"] == .text("\(count - 1)"), "\(policy)")
            #expect(try store.coordinator.changeSet()?.changes.count == 1, "\(policy)")
            #expect(try store.store.check() == [], "\(policy)")
        }
    }

    @Test func `the record of the exchange does not grow, and its earlier rows go with the position`() throws {
        let first = try Branch(folder.file("first.store"))
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(ChangeLog())
        func state() throws -> (length: Int, rows: Int64) {
            try first.store.opened.database.read { connection in
                let length = try ExchangeRecord.text(on: connection)?.utf8.count ?? 0
                let rows = try connection.withUncachedStatement(#"SELECT count(*) FROM "_exchange""#) {
                    try $0.step() ? $0.integer(at: 0) : 0
                }
                return (length, rows)
            }
        }
        _ = try makeChangeSets(first, party, 40)
        let before = try state()
        let sent = try makeChangeSets(first, party, 100)
        let after = try state()
        #expect(abs(after.length - before.length) < 100)
        #expect(after.rows == before.rows + 101)
        _ = try first.coordinator.apply(sent)
        #expect(try state().rows == 1)
    }

    // first                    | foreign program                 | second
    // makes a change set       | reads it, appends other content |
    //                          | with its identifier             |
    // receives it              |                                 | receives it
    // sends its own change set |                                 | receives it
    @Test func `other content with the identifier of an own change set is applied, and the own one is sent again`()
        throws
    {
        let (first, second) = (try Branch(folder.file("first.store")), try Branch(folder.file("second.store")))
        let log = ChangeLog()
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try second.receive(log)
        try first.set(party, "note", "own")
        let own = try #require(try first.coordinator.changeSet())
        #expect(try first.coordinator.changeSet()?.id == own.id, "the same change set, made again")
        let change = try #require(own.changes.first)
        let forged = ChangeSet(
            id: own.id,
            origin: own.origin,
            sequence: own.sequence,
            timestamp: own.timestamp,
            authors: own.authors,
            modelHash: own.modelHash,
            changes: [
                .init(
                    identifier: change.identifier,
                    entity: "Party",
                    kind: .update,
                    values: ["rank": .attribute(.real(7))]
                )
            ]
        )
        #expect(try first.coordinator.apply(forged).outcome == .applied)
        #expect(try second.coordinator.apply(forged).outcome == .applied)
        let next = try #require(try first.coordinator.changeSet())
        #expect(next.id != own.id)
        #expect(next.changes.map(\.values) == [["note": .attribute(.text("own"))]])
        #expect(try second.coordinator.apply(next).outcome == .applied)
        #expect(try first.coordinator.apply(next).outcome == .acknowledged)
        #expect(try first.content() == second.content())
        #expect(try first.coordinator.changeSet() == nil)
        #expect(try first.store.check() == [])
    }

    @Test func `an own change set is acknowledged with another time, after coding, and without a recorded hash`() throws
    {
        let store = try Branch(folder.file("first.store"))
        let party = try store.insert("Party", ["code": "a"])
        try store.set(party, "photo", .blob(Data([1, 2])))
        try store.set(party, "rank", .real(-0.0))
        let own = try #require(try store.coordinator.changeSet())
        let later = ChangeSet(
            id: own.id,
            origin: own.origin,
            sequence: own.sequence,
            timestamp: own.timestamp + 1,
            authors: ["other"],
            modelHash: own.modelHash,
            changes: own.changes
        )
        let coded = try JSONDecoder().decode(ChangeSet.self, from: JSONEncoder().encode(later))
        for removesHash in [false, true] {
            let copy = folder.file("copy-\(removesHash).store")
            try store.store.backUp(to: copy)
            let branch = try Branch(copy)
            if removesHash {
                // As an earlier version of the package writes the record.
                try branch.store.opened.database.write { connection in
                    try connection.execute(
                        #"UPDATE "_exchange" SET "state" = json_remove("state", '$.outstanding[0].digest')"#
                    )
                }
                #expect(try branch.coordinator.changeSet()?.id == own.id)
            }
            #expect(try branch.coordinator.apply(coded).outcome == .acknowledged, "\(removesHash)")
            #expect(try branch.coordinator.changeSet() == nil)
            #expect(try branch.store.check() == [])
        }
    }

    // first                         | second
    // saves, is not exchanged again |
    //                               | sends 100 change sets
    // receives them                 |
    @Test func `receiving with a pending change reads no more with each change set`() throws {
        let (first, second) = (try Branch(folder.file("first.store")), try Branch(folder.file("second.store")))
        let log = ChangeLog()
        let party = try second.insert("Party", ["code": "a"])
        try second.exchange(log)
        try first.receive(log)
        first.context.transactionAuthor = "till"
        try first.insert("Party", ["code": "b"])
        try first.set(#require(try first.object(second.identifier(party))), "rank", .real(3))
        for number in 0..<100 {
            try second.set(party, "note", .text("\(number)"))
            try second.exchange(log)
        }
        var largest = 0
        for changes in log.changeSets.dropFirst() {
            try first.coordinator.apply(changes, mergePolicy: .mergeByPropertyObjectTrump)
            try first.store.opened.database.read { connection in
                let record = try #require(try ExchangeRecord.read(on: connection))
                let pending = try UnexchangedChanges(record, first.store.opened, on: connection)
                largest = max(largest, pending.readCount)
            }
        }
        #expect(largest <= 20)
        let changes = try #require(try first.coordinator.changeSet())
        #expect(changes.authors == ["till"])
        #expect(Set(changes.changes.map(\.kind)) == [.insert, .update])
        #expect(changes.changes.first { $0.kind == .update }?.values == ["rank": .attribute(.real(3))])
        try first.exchange(log)
        try second.exchange(log)
        #expect(try first.content() == second.content())
        #expect(try first.store.check() == [])
    }

    @Test func `partners that contradict each other are refused`() throws {
        let person = EntityDescription(
            "Person",
            attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("spouse", to: "Person", .one, inverse: "spouse")]
        )
        let store = try Branch(folder.file("people.store"), declarations: [person])
        let people = try ["p", "q", "r", "s"].map { try store.insert("Person", ["name": .text($0)]) }
        people[0].setDestination(people[2], forRelationship: "spouse")
        people[1].setDestination(people[3], forRelationship: "spouse")
        try store.context.save()
        let own = try #require(try store.coordinator.changeSet())
        try store.coordinator.apply(own)
        let ids = try people.map { try #require(try store.identifier($0)) }
        func apply(_ partners: [(UUID, UUID?)]) throws {
            let changes = partners.map { identifier, partner in
                ChangeSet.Change(
                    identifier: identifier,
                    entity: "Person",
                    kind: .update,
                    values: ["spouse": .reference(partner)]
                )
            }
            try store.coordinator.apply(
                ChangeSet(
                    id: UUID(),
                    origin: UUID(),
                    sequence: 2,
                    timestamp: Date(),
                    authors: [],
                    modelHash: own.modelHash,
                    changes: changes
                ),
                mergePolicy: .mergeByPropertyObjectTrump
            )
        }
        for contradiction in [[(ids[0], ids[1]), (ids[1], ids[2])], [(ids[0], ids[1]), (ids[1], nil)]] {
            let error = try #require(throws: ExchangeError.self) { try apply(contradiction) }
            guard case .invalidChangeSet(let problem) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(problem.reason == .inconsistentRelationship)
            #expect(try store.store.check() == [])
        }
        try apply([(ids[0], ids[1]), (ids[1], ids[0]), (ids[2], nil), (ids[3], nil)])
        #expect(try store.store.check() == [])
    }
}
