import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Random saves in three stores that exchange their changes in random order: all end with the same content.
@Suite("Agreement of stores that exchange their changes") struct ExchangeRandomTests {
    private let folder = TemporaryFolder()

    private static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    @Test(arguments: SeededGenerator.seeds(6)) func `all stores end equal`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let log = ChangeLog()
        let branches = try ["first", "second", "third"].map { try Branch(folder.file("\($0).store")) }
        for step in 0..<40 {
            let branch = random.pick(branches)!
            // A step that violates a rule changes nothing.
            do { try perform(branch, &random) } catch is ObjectGraphError {}
            guard random.chance(35) else { continue }
            let policy = random.pick(Self.policies)!
            do {
                try branch.receive(log, policy)
                if random.chance(70), let changes = try branch.coordinator.changeSet() { _ = log.append(changes) }
            } catch {
                Issue.record("\(random), step \(step), \(policy): \(error)")
                return
            }
        }
        var isQuiet = false
        for _ in 0..<20 where !isQuiet {
            let count = log.changeSets.count
            do {
                for branch in branches { try branch.exchange(log, random.pick(Self.policies)!) }
            } catch {
                Issue.record("\(random), at the end: \(error)")
                return
            }
            isQuiet = log.changeSets.count == count
        }
        #expect(isQuiet, "\(random)")
        let contents = try branches.map { try $0.content() }
        for (other, branch) in zip(contents, branches) {
            #expect(differences(contents[0], other) == [], "\(random)")
            #expect(try branch.store.check().map(\.description) == [], "\(random)")
        }
    }

    private func differences(_ left: [String: [String: String]], _ right: [String: [String: String]]) -> [String] {
        Set(left.keys).union(right.keys).sorted().flatMap { object -> [String] in
            guard let before = left[object], let after = right[object] else { return ["\(object): missing"] }
            return before.keys.filter { before[$0] != after[$0] }.sorted().map {
                "\(object).\($0): \(before[$0] ?? "") \(after[$0] ?? "")"
            }
        }
    }

    // MARK: Operations

    private func perform(_ branch: Branch, _ random: inout SeededGenerator) throws {
        let context = ManagedObjectContext(coordinator: branch.coordinator)
        context.mergePolicy = .mergeByPropertyObjectTrump
        if random.chance(15) { return try performBatch(branch, context, &random) }
        var objects: [String: [ManagedObject]] = [:]
        for entity in branch.coordinator.model.entities where entity.isRoot {
            objects[entity.name] = try context.fetch(FetchRequest(entity), as: ManagedObject.self)
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let name = random.pick(["Party", "Member", "Order", "Line", "Item", "Category", "Tag", "Badge", "Seat"])!
            let root = name == "Member" ? "Party" : name
            if random.chance(40) {
                insert(name, root, branch, context, &objects, &random)
                continue
            }
            guard let object = random.pick(objects[root] ?? []), !object.state.pointee.life.isDeleted else { continue }
            if random.chance(20) {
                context.delete(object)
            } else {
                change(object, objects, &random)
            }
        }
        try context.save()
    }

    private func insert(
        _ name: String,
        _ root: String,
        _ branch: Branch,
        _ context: ManagedObjectContext,
        _ objects: inout [String: [ManagedObject]],
        _ random: inout SeededGenerator
    ) {
        let object = ManagedObject(entity: branch.entity(name), insertInto: context)
        for attribute in object.entity.attributes where !attribute.isOptional || random.chance(30) {
            object[attribute.name] = value(of: attribute, &random)
        }
        for relationship in object.entity.relationships
        where !relationship.isToMany && (!relationship.isOptional || random.chance(30)) {
            let others = objects[relationship.destination.rootName, default: []].filter {
                !$0.state.pointee.life.isDeleted && $0.entity.isKind(of: relationship.destination)
            }
            object.setDestination(random.pick(others), forRelationship: relationship.name)
        }
        objects[root]?.append(object)
    }

    private func value(of attribute: Attribute, _ random: inout SeededGenerator) -> Value {
        if attribute.isOptional, random.chance(25) { return .null }
        let number = Int64(random.next() % 8)
        return switch attribute.type {
        case .string:
            .text(random.chance(20) ? "e\u{301}\(number)" : random.chance(20) ? "\u{e9}\(number)" : "\(number)")
        case .decimal: Decimal(number).storedValue
        case .data: .blob(Data(repeating: UInt8(number), count: random.chance(50) ? 3 : 9000))
        case .double, .date: .real(random.chance(20) ? -0.0 : Double(number))
        default: .integer(number)
        }
    }

    private func change(
        _ object: ManagedObject,
        _ objects: [String: [ManagedObject]],
        _ random: inout SeededGenerator
    ) {
        guard let property = random.pick(object.entity.properties) else { return }
        switch property {
        case .attribute(let attribute): object[attribute.name] = value(of: attribute, &random)
        case .relationship(let relationship):
            let others = objects[relationship.destination.rootName, default: []].filter {
                !$0.state.pointee.life.isDeleted && $0.entity.isKind(of: relationship.destination)
            }
            guard let other = random.pick(others) else { return }
            if !relationship.isToMany {
                let isCleared = relationship.isOptional && random.chance(25)
                object.setDestination(isCleared ? nil : other, forRelationship: relationship.name)
            } else if random.chance(30), let member = object.memberObjects(at: relationship.slot).first {
                object.removeMember(member, at: relationship.slot)
            } else {
                object.addMember(other, at: relationship.slot)
            }
        }
    }

    private func performBatch(
        _ branch: Branch,
        _ context: ManagedObjectContext,
        _ random: inout SeededGenerator
    ) throws {
        let item = branch.entity("Item")
        let categories = try context.fetchIDs(FetchRequest(branch.entity("Category"))).map(\.key)
        let category: Value = random.pick(categories).map { .integer($0) } ?? .null
        let name = QueryExpression.path(item.propertiesByName["name"]!)
        let predicate = QueryExpression.comparison(.less, name, .literal(.text("\(random.next() % 8)")))
        switch random.next() % 3 {
        case 0:
            let objects = (0..<3).map { ["name": Value.text("batch \($0)"), "category": category] }
            try context.execute(BatchInsertRequest(item, objects: objects))
        case 1:
            var request = BatchUpdateRequest(item, propertiesToUpdate: ["category": .literal(category)])
            request.predicate = predicate
            try context.execute(request)
        default: try context.execute(BatchDeleteRequest(item, predicate: predicate))
        }
    }
}

extension Entity {
    fileprivate var rootName: String {
        var entity = self
        while let superentity = entity.superentity { entity = superentity }
        return entity.name
    }
}
