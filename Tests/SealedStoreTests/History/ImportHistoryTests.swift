import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The history of imports") struct ImportHistoryTests {
    private let folder = TemporaryFolder()

    private func row(_ entity: Entity, key: Int64, version: UInt32, _ values: [String: Value]) -> RowBatch {
        var rows = RowBatchBuilder()
        rows.begin(key: key, version: version, entity: entity.index, slotCount: entity.slotCount)
        for (name, value) in values { rows.set(value, at: entity.propertiesByName[name]!.slot) }
        return rows.finish()
    }

    @Test(arguments: [false, true])
    func `an import is one transaction, with each object once`(recordsValues: Bool) throws {
        let club = try Club(folder.file("club.store"), history: HistoryOptions(recordsValues: recordsValues))
        let eve = club.person("Eve")
        try club.context.save()
        let last = try club.lastTransaction
        let (person, team, group) = (club.entity("Person"), club.entity("Team"), club.entity("Group"))
        try club.store.importing { transaction in
            let keys = try transaction.reserveKeys(2, of: person)
            let (first, second) = (keys.lowerBound, keys.lowerBound + 1)
            let teamKey = try transaction.reserveKeys(1, of: team).lowerBound
            let groupKey = try transaction.reserveKeys(1, of: group).lowerBound
            for key in [first, second] {
                try transaction.insert(row(person, key: key, version: 1, ["name": .text("new")]))
            }
            try transaction.insert(row(team, key: teamKey, version: 1, ["title": .text("t")]))
            try transaction.insert(row(group, key: groupKey, version: 1, ["label": .text("g")]))
            // References are written later, to new and to existing objects.
            var update = SaveChangesRequest.Update(previousVersion: 1, slots: SlotSet())
            update.slots.insert(person.propertiesByName["team"]!.slot)
            let values: [String: Value] = ["name": .text("Eve"), "team": .integer(teamKey)]
            try transaction.update(row(person, key: eve.key, version: 2, values), [update])
            _ = try transaction.add(first, to: team.relationship(named: "members")!, of: teamKey, at: nil)
            _ = try transaction.add(eve.key, to: group.relationship(named: "people")!, of: groupKey, at: 0)
            _ = try transaction.add(second, to: person.relationship(named: "friends")!, of: first, at: nil)
        }
        let transactions = try club.coordinator.history(HistoryFetchRequest(after: last))
        #expect(transactions.count == 1)
        let lines = transactions.flatMap(\.lines)
        #expect(lines.filter { $0.hasPrefix("+") }.count == 4)
        #expect(lines.filter { $0.hasPrefix("*") } == ["* Person \(eve.key): groups team"])
        if recordsValues {
            let update = try #require(transactions.flatMap(\.changes).last)
            #expect(update.values.old["team"] == .null && update.values.new["team"] != .null)
            let inserted = transactions.flatMap(\.changes).filter {
                $0.objectID.entity.name == "Person" && $0.kind == .insert
            }
            #expect(inserted.compactMap { $0.values.new["team"] }.count == 1, "the values at the end of the import")
        }
        #expect(try club.check() == [])
    }

    @Test func `a store in memory records its history, too`() throws {
        let club = try Club(nil)
        _ = club.person("Ada")
        try club.context.save()
        #expect(try club.lines() == ["+ Person 1"])
    }
}
