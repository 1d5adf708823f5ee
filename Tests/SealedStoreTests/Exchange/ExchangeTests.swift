import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("Exchange of changes between stores") struct ExchangeTests {
    private let folder = TemporaryFolder()
    private let log = ChangeLog()

    private func branch(_ name: String) throws -> Branch { try Branch(folder.file("\(name).store")) }

    @Test func `a new store gets all objects with their values and relationships`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        let party = try first.insert(
            "Party",
            [
                "code": "a", "rank": .real(-0.0), "joined": .real(.infinity), "photo": .blob(Data([1, 2])),
                "balance": Decimal(string: "12.50")!.storedValue,
            ]
        )
        try first.insert("Member", ["code": "b", "level": 3], ["badge": first.insert("Badge", ["number": 1])])
        let order = try first.insert("Order", ["number": 1], ["customer": party])
        let item = try first.insert("Item", ["name": "i"], ["category": first.insert("Category", ["title": "c"])])
        for amount in [3, 1, 2] {
            try first.insert("Line", ["amount": .integer(Int64(amount))], ["order": order, "item": item])
        }
        for label in ["y", "x"] { item.add(try first.insert("Tag", ["label": .text(label)]), to: "tags") }
        party.add(try #require(try first.only("Member")), to: "friends")
        try first.context.save()
        try first.exchange(log)
        #expect(log.changeSets.count == 1)
        #expect(try second.exchange(log) == [])
        #expect(log.changeSets.count == 1, "what was applied is no change of the second store")
        let content = try first.content()
        #expect(try second.content() == content)
        #expect(content.count == 11)
        #expect(try second.store.check() == [])
    }

    @Test func `changes and deletions reach the other store`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        let customer = try first.insert("Party", ["code": "a", "note": "n"])
        let order = try first.insert("Order", ["number": 1], ["customer": customer])
        let lines = try (0..<3).map { try first.insert("Line", ["amount": .integer($0)], ["order": order]) }
        try first.exchange(log)
        try second.exchange(log)
        try first.set(customer, "note", .null)
        order.remove(lines[0], from: "lines")
        try first.delete(lines[0])
        try first.exchange(log)
        #expect(
            log.changeSets[1].changes.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.delete, .update, .update]
        )
        try second.exchange(log)
        #expect(try second.content() == first.content())
        let other = try #require(try second.only("Order"))
        try second.delete(other)
        try second.exchange(log)
        try first.exchange(log)
        #expect(try first.content() == second.content())
        #expect(try first.count("Line") == 0)
        #expect(try first.store.check() == [])
    }

    @Test func `a change set has the net effect of several transactions`() throws {
        let first = try branch("first")
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        first.context.transactionAuthor = "till"
        try first.set(party, "note", "1")
        try first.set(party, "note", "2")
        try first.delete(first.insert("Party", ["code": "b"]))
        let changes = try #require(try first.coordinator.changeSet())
        #expect(changes.changes.map(\.values) == [["note": .attribute("2")]])
        #expect(changes.authors == ["till"])
        #expect(changes.sequence == 2)
    }

    @Test func `an applied transaction has the author of the change set and reaches contexts`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        first.context.transactionAuthor = "till"
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try second.exchange(log)
        let copy = try #require(try second.only("Party"))
        #expect(copy["note"] == .null)
        try first.set(party, "note", "n")
        try first.exchange(log)
        try second.receive(log)
        try second.context.save()
        #expect(copy["note"] == "n")
        let history = try second.coordinator.history()
        #expect(history.last?.author == "till")
        #expect(try second.identifier(copy) == first.identifier(party))
    }

    @Test func `a change set that the store has is skipped, and one that is too late is refused`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try first.set(party, "note", "n")
        try first.exchange(log)
        #expect(throws: ExchangeError.outOfSequence(position: 0, sequence: 2)) {
            try second.coordinator.apply(log.changeSets[1])
        }
        try second.exchange(log)
        let transactions = try second.coordinator.history().count
        for changes in log.changeSets {
            #expect(try second.coordinator.apply(changes).outcome == .skipped)
        }
        #expect(try second.coordinator.history().count == transactions)
        #expect(try second.content() == first.content())
    }

    @Test func `an own change set is acknowledged, and changes since then are the next one`() throws {
        let first = try branch("first")
        let party = try first.insert("Party", ["code": "a"])
        let changes = try #require(try first.coordinator.changeSet())
        #expect(try first.coordinator.changeSet()?.id == changes.id, "the same changes have the same identifier")
        try first.set(party, "note", "n")
        let later = try #require(try first.coordinator.changeSet())
        #expect(later.id != changes.id)
        let result = try first.coordinator.apply(changes)
        #expect(result.outcome == .acknowledged && result.position == 1)
        let next = try #require(try first.coordinator.changeSet())
        #expect(next.sequence == 2)
        #expect(next.changes.map(\.values) == [["note": .attribute("n")]])
    }

    @Test func `a store that was closed after each step continues`() throws {
        try branch("first").insert("Party", ["code": "a"])
        let changes = try #require(try branch("first").coordinator.changeSet())
        #expect(log.append(changes))
        #expect(try branch("second").exchange(log) == [])
        #expect(try branch("first").exchange(log) == [])
        #expect(log.changeSets.count == 1)
        #expect(try branch("first").coordinator.exchangeState().position == 1)
        #expect(try branch("second").content() == branch("first").content())
    }

    @Test func `a restored copy of a file gets the changes that the original has sent`() throws {
        let first = try branch("first")
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try first.insert("Party", ["code": "b"])
        try first.store.backUp(to: folder.file("copy.store"))
        try first.set(party, "note", "n")
        try first.exchange(log)
        let copy = try branch("copy")
        try copy.exchange(log)
        #expect(log.changeSets.count == 2)
        #expect(try copy.content() == first.content())
        #expect(try copy.coordinator.exchangeState().replica == first.coordinator.exchangeState().replica)
        try copy.insert("Party", ["code": "c"])
        try copy.exchange(log)
        try first.exchange(log)
        #expect(try copy.content() == first.content())
    }

    @Test func `a failed application changes nothing`() throws {
        let (first, second) = (try branch("first"), try branch("second"))
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try second.exchange(log)
        try first.set(party, "note", "1")
        try first.exchange(log)
        let copy = try #require(try second.only("Party"))
        try second.set(copy, "note", "2")
        let content = try second.content()
        #expect(throws: ExchangeError.self) { try second.receive(log, .error) }
        #expect(try second.content() == content)
        #expect(try second.coordinator.exchangeState().position == 1)
        try second.exchange(log)
        try first.exchange(log)
        #expect(try first.content() == second.content())
    }

    @Test func `a store without identifiers does not exchange`() throws {
        let store = try Branch(folder.file("plain.store"), history: HistoryOptions())
        #expect(throws: ExchangeError.noIdentifiers) { try store.coordinator.changeSet() }
    }

    @Test func `transactions that were not exchanged stay in the history`() throws {
        let first = try branch("first")
        let party = try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try first.set(party, "note", "1")
        #expect(try first.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max))) == 1)
        try first.exchange(log)
        #expect(log.changeSets.count == 2)
        #expect(try first.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max))) == 1)
    }

    @Test func `removing the history ends the exchange`() throws {
        let first = try branch("first")
        try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        try first.store.removeHistory()
        #expect(throws: ExchangeError.noIdentifiers) { try first.coordinator.changeSet() }
        #expect(try first.coordinator.exchangeState() == ExchangeState(replica: nil, position: 0))
        #expect(try branch("first").store.check() == [])
    }

    @Test func `stores of other models are refused`() throws {
        let first = try branch("first")
        try first.insert("Party", ["code": "a"])
        try first.exchange(log)
        var declarations = Branch.declarations()
        declarations[0].attributes.append(AttributeDescription("new", .string, isOptional: true))
        let other = try Branch(folder.file("other.store"), declarations: declarations)
        #expect(throws: ExchangeError.otherModel) { try other.receive(log) }
    }
}
