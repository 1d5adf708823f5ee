import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Random saves and batch requests, whose transactions are compared with the difference of the store's content.
@Suite("Agreement of history and content") struct HistoryAgreementTests {
    private let folder = TemporaryFolder()

    private typealias Content = [String: [String: String]]

    /// The values of all objects, by entity and key, and by property.
    private func content(_ club: Club) throws -> Content {
        var content: Content = [:]
        let context = ManagedObjectContext(coordinator: club.coordinator)
        for entity in club.coordinator.model.entities where entity.isRoot {
            for object in try context.fetch(FetchRequest(entity), as: ManagedObject.self) {
                var values: [String: String] = [:]
                for property in object.entity.properties {
                    switch property {
                    case .attribute(let attribute):
                        values[property.name] = text(object._$storedValue(at: attribute.slot))
                    case .relationship(let relationship) where relationship.isToMany:
                        let keys = object.memberObjects(at: relationship.slot).map(\.state.pointee.key)
                        values[property.name] = text(relationship.isOrdered ? keys : keys.sorted())
                    case .relationship(let relationship):
                        values[property.name] = text(
                            object.destination(at: relationship.slot).map { .integer($0.state.pointee.key) } ?? .null
                        )
                    }
                }
                content["\(object.entity.name) \(object.key)"] = values
            }
        }
        return content
    }

    private func text(_ keys: [Int64]) -> String { keys.map(String.init).joined(separator: ",") }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .text(let text): text
        case .blob(let data): data.base64EncodedString()
        case .uuid(let uuid): uuid.uuidString
        }
    }

    /// The lines that describe the difference of two states.
    private func difference(_ old: Content, _ new: Content) -> Set<String> {
        var lines: Set<String> = []
        for place in old.keys where new[place] == nil { lines.insert("- \(place)") }
        for (place, values) in new {
            guard let before = old[place] else {
                lines.insert("+ \(place)")
                continue
            }
            let changed = values.filter { before[$0.key] != $0.value }.keys.sorted()
            if !changed.isEmpty { lines.insert("* \(place): " + changed.joined(separator: " ")) }
        }
        return lines
    }

    @Test(arguments: SeededGenerator.seeds(12))
    func `each transaction says what has changed`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let recordsValues = seed.isMultiple(of: 2)
        let first = try Club(folder.file("club.store"), history: HistoryOptions(recordsValues: recordsValues))
        // The second program does not ask for a history.
        let clubs = [first, try Club(folder.file("club.store"), history: nil)]
        var state = try content(first)
        var replayed = Content()
        var last: Int64 = 0
        for step in 0..<60 {
            let club = clubs[random.chance(50) ? 0 : 1]
            // A step that violates a rule changes nothing.
            do { try perform(club, &random) } catch is ObjectGraphError {}
            let transactions = try first.coordinator.history(HistoryFetchRequest(after: last))
            last = transactions.last?.number ?? last
            let next = try content(first)
            let expected = difference(state, next)
            let lines = transactions.flatMap(\.lines)
            #expect(transactions.count <= 1)
            #expect(Set(lines).count == lines.count, "\(random), step \(step): an object occurs twice")
            #expect(extra(lines, expected).isEmpty, "\(random), step \(step): \(lines) for \(expected)")
            #expect(missing(lines, expected).isEmpty, "\(random), step \(step): \(lines) for \(expected)")
            if recordsValues {
                for transaction in transactions { replay(transaction, in: &replayed, first.coordinator.model) }
                let difference = difference(replayed, next)
                #expect(difference.isEmpty, "\(random), step \(step): \(lines)")
                if !difference.isEmpty { return }
            }
            state = next
        }
        #expect(try first.check() == [])
    }

    /// The changes that are recorded and have not happened. A property that was written with its old value counts as
    /// changed, so only objects that do not exist and kinds of changes are compared.
    private func extra(_ lines: [String], _ expected: Set<String>) -> [String] {
        lines.filter { line in !line.hasPrefix("*") && !expected.contains(line) }
    }

    /// The changes that have happened and are not recorded.
    private func missing(_ lines: [String], _ expected: Set<String>) -> [String] {
        expected.filter { line in
            guard line.hasPrefix("*") else { return !lines.contains(line) }
            let parts = line.split(separator: ": ")
            guard let recorded = lines.first(where: { $0.hasPrefix(parts[0] + ": ") }) else { return true }
            let properties = Set(recorded.split(separator: ": ").last?.split(separator: " ") ?? [])
            return !properties.isSuperset(of: parts[1].split(separator: " "))
        }
    }

    // MARK: Operations

    private func perform(_ club: Club, _ random: inout SeededGenerator) throws {
        let context = ManagedObjectContext(coordinator: club.coordinator)
        context.mergePolicy = .mergeByPropertyObjectTrump
        if random.chance(15) { return try performBatch(club, context, &random) }
        var objects: [String: [ManagedObject]] = [:]
        for name in ["Person", "Team", "Passport", "Group"] {
            objects[name] = try context.fetch(FetchRequest(club.entity(name)), as: ManagedObject.self)
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let name = random.pick(["Person", "Person", "Student", "Team", "Passport", "Group"])!
            let root = name == "Student" ? "Person" : name
            if random.chance(40) {
                let object = ManagedObject(entity: club.entity(name), insertInto: context)
                switch root {
                case "Person": object["name"] = .text("\(random.next() % 100)")
                case "Team": object["title"] = .text("t")
                case "Passport": object["number"] = .integer(Int64(random.next() % 30))
                default: object["label"] = .text("g")
                }
                objects[root]?.append(object)
                continue
            }
            guard let object = random.pick(objects[root] ?? []), !object.state.pointee.life.isDeleted else { continue }
            if random.chance(15) {
                context.delete(object)
                continue
            }
            change(object, objects, &random)
        }
        try context.save()
    }

    private func change(_ object: ManagedObject, _ objects: [String: [ManagedObject]], _ random: inout SeededGenerator)
    {
        guard let property = random.pick(object.entity.properties) else { return }
        switch property {
        case .attribute(let attribute):
            switch attribute.name {
            case "height": object["height"] = random.chance(20) ? .null : .real(Double(random.next() % 3) - 1)
            case "photo":
                object["photo"] =
                    random.chance(20) ? .null : .blob(Data(repeating: 7, count: random.chance(50) ? 3 : 9000))
            case "number": object["number"] = .integer(Int64(random.next() % 30))
            default: object[attribute.name] = .text("\(random.next() % 100)")
            }
        case .relationship(let relationship):
            let root = relationship.destination.name
            let others = objects[root, default: []].filter { !$0.state.pointee.life.isDeleted }
            guard let other = random.pick(others) else { return }
            if !relationship.isToMany {
                object.setDestination(random.chance(25) ? nil : other, forRelationship: relationship.name)
            } else if random.chance(30), let member = object.memberObjects(at: relationship.slot).first {
                object.removeMember(member, at: relationship.slot)
            } else {
                object.addMember(other, at: relationship.slot)
            }
        }
    }

    private func performBatch(
        _ club: Club,
        _ context: ManagedObjectContext,
        _ random: inout SeededGenerator
    ) throws {
        let teams = try context.fetchIDs(FetchRequest(club.entity("Team"))).map(\.key)
        let person = club.entity("Person")
        let name = QueryExpression.path(person.propertiesByName["name"]!)
        let predicate = QueryExpression.comparison(.less, name, .literal(.text("\(random.next() % 100)")))
        switch random.next() % 3 {
        case 0:
            let team: Value = random.pick(teams).map { .integer($0) } ?? .null
            let objects = (0..<3).map { ["name": Value.text("batch \($0)"), "team": team] }
            try context.execute(BatchInsertRequest(club.entity("Student"), objects: objects))
        case 1:
            var request = BatchUpdateRequest(person, propertiesToUpdate: ["height": .literal(.real(5))])
            request.predicate = predicate
            if random.chance(50) {
                request.propertiesToUpdate["team"] = .literal(random.pick(teams).map { .integer($0) } ?? .null)
            }
            try context.execute(request)
        default: try context.execute(BatchDeleteRequest(person, predicate: predicate))
        }
    }

    // MARK: Replaying

    /// Applies the recorded values of a transaction.
    private func replay(
        _ transaction: PersistentHistoryTransaction,
        in content: inout Content,
        _ model: ManagedObjectModel
    ) {
        for change in transaction.changes where change.kind != .delete {
            let entity = change.objectID.entity
            let place = "\(entity.name) \(change.objectID.key)"
            var values = content[place] ?? Dictionary(uniqueKeysWithValues: entity.properties.map { ($0.name, "") })
            for (name, value) in change.values.new { values[name] = text(value) }
            for (name, members) in change.values.members {
                if let order = members.order {
                    values[name] = text(order)
                    continue
                }
                var keys = (values[name] ?? "").split(separator: ",").compactMap { Int64($0) }
                keys.removeAll { members.removed.contains($0) }
                keys += members.added.filter { !keys.contains($0) }
                let isOrdered = entity.relationship(named: name)?.isOrdered ?? false
                values[name] = text(isOrdered ? keys : keys.sorted())
            }
            content[place] = values
        }
        for change in transaction.changes where change.kind == .delete {
            content["\(change.objectID.entity.name) \(change.objectID.key)"] = nil
        }
        deriveMembers(in: &content, model)
    }

    /// Sets the to-many relationships that the members' rows contain.
    private func deriveMembers(in content: inout Content, _ model: ManagedObjectModel) {
        for relationship in model.relationships where relationship.placement == .destinationKey {
            guard let inverse = relationship.inverse else { continue }
            for (place, values) in content where values[relationship.name] != nil {
                let key = place.split(separator: " ")[1]
                let members = content.filter { $0.value[inverse.name] == String(key) && $0.value["name"] != nil }
                let keys = members.keys.compactMap { Int64($0.split(separator: " ")[1]) }
                content[place]?[relationship.name] = text(keys.sorted())
            }
        }
    }
}
