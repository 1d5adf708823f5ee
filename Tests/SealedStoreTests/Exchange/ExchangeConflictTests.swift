import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Two stores with the same objects change them before they exchange the changes: the first one appends its change set
/// first, so that the second one merges.
@Suite("Conflicts of changes that stores exchange") struct ExchangeConflictTests {
    private let folder = TemporaryFolder()
    private let log = ChangeLog()
    private let first: Branch
    private let second: Branch

    init() throws {
        first = try Branch(folder.file("first.store"))
        second = try Branch(folder.file("second.store"))
    }

    /// Exchanges the changes of the first store, and then those of the second one.
    ///
    /// - Returns: the conflicts of the second one.
    private func exchange(_ policy: MergePolicy = .mergeByPropertyStoreTrump) throws -> [ExchangeConflict] {
        try first.exchange(log)
        let conflicts = try second.exchange(log, policy)
        try first.exchange(log)
        #expect(try first.content() == second.content())
        #expect(try first.coordinator.changeSet() == nil)
        #expect(try second.coordinator.changeSet() == nil)
        #expect(try first.store.check() + second.store.check() == [])
        return conflicts
    }

    /// Exchanges what exists, and returns the object of the second store for each one of the first.
    private func share(_ objects: ManagedObject...) throws -> [ManagedObject] {
        _ = try exchange()
        return try objects.map { try #require(try second.object(first.identifier($0))) }
    }

    private func resolutions(_ conflicts: [ExchangeConflict]) -> [ExchangeConflict.Resolution] {
        conflicts.map(\.resolution)
    }

    // first                second
    // deletes x            changes x and y
    // exchanges
    //                      receives: x is deleted
    //                      a context with unsaved changes inserts x again, exchanges
    @Test func `an object is inserted again after its deletion was received`() throws {
        let (x, y) = (try first.insert("Party", ["code": "x"]), try first.insert("Party", ["code": "y"]))
        let copies = try share(x, y)
        try second.set(copies[0], "note", "lost")
        try second.set(copies[1], "note", "pending")
        let context = ManagedObjectContext(coordinator: second.coordinator)
        context.mergePolicy = .overwrite
        let again = try #require(try context.existingObject(with: copies[0].managedObjectID) as? ManagedObject)
        again["note"] = "again"
        try first.delete(x)
        try first.exchange(log)
        try second.receive(log)
        #expect(try second.count("Party") == 1)
        try context.save()
        _ = try exchange()
        #expect(try first.count("Party") == 2)
    }

    // MARK: Properties

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, Value.text("2"), ExchangeConflict.Resolution.keptLocal),
        (.rollback, "2", .keptLocal), (.mergeByPropertyObjectTrump, "1", .tookIncoming),
        (.overwrite, "1", .tookIncoming),
    ])
    func `the policy decides a property that both have changed`(
        policy: MergePolicy,
        note: Value,
        resolution: ExchangeConflict.Resolution
    ) throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        party["rank"] = .real(7)
        try first.set(party, "note", "1")
        try second.set(copy, "note", "2")
        let conflicts = try exchange(policy)
        #expect(conflicts.first { $0.property == "note" }?.resolution == resolution)
        #expect(try second.only("Party")?["note"] == note)
        #expect(try second.only("Party")?["rank"] == (policy == .rollback ? .null : .real(7)), "drops the whole change")
    }

    @Test func `equal changes are no conflict`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.set(party, "note", "1")
        try second.set(copy, "note", "1")
        #expect(try exchange(.error) == [])
        #expect(log.changeSets.count == 2, "the second store has nothing to add")
    }

    @Test func `changes of different properties are merged`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.set(party, "note", "1")
        try second.set(copy, "rank", .real(2))
        #expect(try exchange(.error) == [])
        let merged = try #require(try first.only("Party"))
        #expect(merged["note"] == "1" && merged["rank"] == .real(2))
    }

    @Test func `members that both have added to an ordered relationship stay`() throws {
        let order = try first.insert("Order", ["number": 1], ["customer": first.insert("Party", ["code": "a"])])
        let copy = try share(order)[0]
        try first.insert("Line", ["amount": 1], ["order": order])
        try second.insert("Line", ["amount": 2], ["order": copy])
        _ = try exchange()
        let slot = order.entity.relationship(named: "lines")!.slot
        let fresh = ManagedObjectContext(coordinator: first.coordinator)
        let same = try #require(try fresh.existingObject(with: order.managedObjectID) as? ManagedObject)
        let amounts = same.memberObjects(at: slot).compactMap { ($0 as? ManagedObject)?["amount"] }
        #expect(amounts == [2, 1], "those of the store first")
    }

    // MARK: Deletions

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .overwrite])
    func `a deletion wins over a change, unless the policy overwrites`(policy: MergePolicy) throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.delete(party)
        try second.set(copy, "note", "2")
        let conflicts = try exchange(policy)
        #expect(resolutions(conflicts) == [policy == .overwrite ? .keptObject : .deleted])
        #expect(try first.count("Party") == (policy == .overwrite ? 1 : 0))
        #expect(try first.only("Party")?["note"] == (policy == .overwrite ? "2" : nil))
    }

    @Test func `the change of an object that the store has deleted is dropped`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.set(party, "note", "1")
        try second.delete(copy)
        #expect(resolutions(try exchange()) == [.droppedUpdate])
        #expect(try first.count("Party") == 0)
    }

    @Test func `both stores may delete the same object`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.delete(party)
        try second.delete(copy)
        #expect(try exchange(.error) == [])
        #expect(log.changeSets.count == 2)
    }

    @Test func `the rule cascade deletes new members`() throws {
        let order = try first.insert("Order", ["number": 1], ["customer": first.insert("Party", ["code": "a"])])
        let copy = try share(order)[0]
        try first.delete(order)
        try second.insert("Line", ["amount": 2], ["order": copy])
        _ = try exchange()
        #expect(try second.count("Line") == 0 && first.count("Order") == 0)
    }

    @Test func `the rule deny keeps the object`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.delete(party)
        try second.insert("Order", ["number": 1], ["customer": copy])
        #expect(resolutions(try exchange()) == [.keptObject])
        #expect(try first.only("Order")?.partner("customer")?["code"] == "a")
        let kept = try #require(try first.only("Party"))
        #expect(try first.identifier(kept) == second.identifier(copy))
    }

    @Test func `the rule nullify clears the references of new objects`() throws {
        let category = try first.insert("Category", ["title": "c"])
        let copy = try share(category)[0]
        try first.delete(category)
        try second.insert("Item", ["name": "i"], ["category": copy])
        _ = try exchange()
        let item = try #require(try first.only("Item"))
        #expect(item.partner("category") == nil)
    }

    @Test func `an object that one deny keeps is not deleted by the cascade of another`() throws {
        let badge = try first.insert("Badge", ["number": 1])
        let party = try first.insert("Party", ["code": "a"], ["badge": badge])
        let copy = try share(party)[0]
        try first.delete(party)
        try second.insert("Order", ["number": 1], ["customer": copy])
        _ = try exchange()
        #expect(try first.count("Party") == 1)
        #expect(try first.count("Badge") == 0, "the first store has deleted it")
    }

    // MARK: References to deleted objects

    @Test func `a reference to an object that the store has deleted is cleared`() throws {
        let category = try first.insert("Category", ["title": "c"])
        let item = try first.insert("Item", ["name": "i"])
        let copy = try share(category)[0]
        item.setDestination(category, forRelationship: "category")
        try first.context.save()
        try second.delete(copy)
        #expect(Set(resolutions(try exchange())) == [.clearedReference, .droppedUpdate])
        #expect(try first.count("Category") == 0)
    }

    @Test func `a required reference keeps the previous destination`() throws {
        let parties = try ["a", "b"].map { try first.insert("Party", ["code": .text($0)]) }
        let order = try first.insert("Order", ["number": 1], ["customer": parties[0]])
        let copy = try share(parties[1])[0]
        order.setDestination(parties[1], forRelationship: "customer")
        try first.context.save()
        try second.delete(copy)
        #expect(resolutions(try exchange()) == [.keptLocal])
        #expect(try first.only("Order")?.partner("customer")?["code"] == "a")
    }

    @Test func `a new object with a required reference to a deleted one is dropped with its dependents`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        let order = try first.insert("Order", ["number": 1], ["customer": party])
        try first.insert("Line", ["amount": 1], ["order": order])
        try second.delete(copy)
        #expect(resolutions(try exchange()) == [.droppedInsertion, .droppedInsertion])
        #expect(try first.count("Order") + first.count("Line") + first.count("Party") == 0)
    }

    // MARK: One-to-one relationships

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func `the partner of two objects stays with one of them`(policy: MergePolicy) throws {
        let badge = try first.insert("Badge", ["number": 1])
        let parties = try ["a", "b"].map { try first.insert("Party", ["code": .text($0)]) }
        let copies = try share(badge, parties[1])
        badge.setDestination(parties[0], forRelationship: "party")
        try first.context.save()
        copies[0].setDestination(copies[1], forRelationship: "party")
        try second.context.save()
        _ = try exchange(policy)
        let owner = try first.only("Badge")?.partner("party")?["code"]
        #expect(owner == (policy == .mergeByPropertyStoreTrump ? "b" : "a"))
    }

    @Test func `a new object whose required partner is taken is dropped`() throws {
        let member = try first.insert("Member", ["code": "a"])
        let copy = try share(member)[0]
        try first.insert("Seat", ["number": 1], ["holder": member])
        try second.insert("Seat", ["number": 2], ["holder": copy])
        _ = try exchange(.mergeByPropertyObjectTrump)
        #expect(try first.only("Seat")?["number"] == 2)
    }

    // MARK: Unique values

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func `new objects with the same unique value become one`(policy: MergePolicy) throws {
        let tag = try first.insert("Tag", ["label": "x"])
        let other = try second.insert("Tag", ["label": "x"])
        try first.insert("Party", ["code": "a", "note": "1"])
        try second.insert("Party", ["code": "a", "note": "2", "rank": .real(2)])
        let identifiers = [try first.identifier(tag), try second.identifier(other)]
        #expect(identifiers[0] != identifiers[1])
        let conflicts = try exchange(policy)
        #expect(resolutions(conflicts).filter { $0 == .merged }.count == 2)
        #expect(try second.identifier(other) == identifiers[0])
        let note = try first.only("Party")?["note"]
        #expect(note == (policy == .mergeByPropertyStoreTrump ? "2" : "1"))
    }

    @Test func `references to a new object that became another one follow it`() throws {
        let tag = try first.insert("Tag", ["label": "x"])
        try first.insert("Item", ["name": "1"]).add(tag, to: "tags")
        try first.context.save()
        let other = try second.insert("Tag", ["label": "x"])
        try second.insert("Item", ["name": "2"]).add(other, to: "tags")
        try second.context.save()
        _ = try exchange()
        let slot = tag.entity.relationship(named: "items")!.slot
        let fresh = ManagedObjectContext(coordinator: first.coordinator)
        let same = try #require(try fresh.existingObject(with: tag.managedObjectID) as? ManagedObject)
        #expect(same.memberObjects(at: slot).count == 2)
        #expect(try first.count("Tag") == 1)
    }

    @Test func `of two existing objects the one of the store keeps a unique value`() throws {
        let parties = try ["a", "b"].map { try first.insert("Party", ["code": .text($0)]) }
        let copy = try share(parties[1])[0]
        try first.set(parties[0], "code", "c")
        try second.set(copy, "code", "c")
        let conflicts = try exchange(.mergeByPropertyObjectTrump)
        #expect(resolutions(conflicts) == [.keptLocal])
        let codes = try first.context.fetch(FetchRequest(first.entity("Party")), as: ManagedObject.self).map {
            try first.object(first.identifier($0))?["code"]
        }
        #expect(Set(codes) == ["a", "c"])
    }

    @Test func `a new object with the unique value of an existing one becomes that one`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        let new = try first.insert("Party", ["code": "b"])
        try first.insert("Order", ["number": 1], ["customer": new])
        try second.set(copy, "code", "b")
        let conflicts = try exchange()
        #expect(resolutions(conflicts) == [.merged])
        #expect(try first.count("Party") == 1)
        #expect(try first.only("Order")?.partner("customer")?["code"] == "b")
    }

    @Test func `the policy error reports conflicts and applies nothing`() throws {
        let party = try first.insert("Party", ["code": "a"])
        let copy = try share(party)[0]
        try first.set(party, "note", "1")
        try second.set(copy, "note", "2")
        try first.exchange(log)
        let expected = ExchangeConflict(
            identifier: try #require(try first.identifier(party)),
            entity: "Party",
            property: "note",
            resolution: .tookIncoming
        )
        #expect(throws: ExchangeError.conflicts([expected])) { try second.receive(log, .error) }
    }
}
