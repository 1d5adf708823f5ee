import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Ordered relationships to which two containers add members at the same time.
///
///     container 1                  container 2
///     reads all                    reads all
///     changes the members          changes the members
///     prepares its save
///                                  saves
///     writes its save: the members of both are in the store
@Suite struct ConcurrentOrderTests {
    private let folder = TemporaryFolder()

    enum Change: CaseIterable {
        case appendNew, appendFromOtherSide, appendExisting, reorder, removeFirst
    }

    private func context(_ isManyToMany: Bool, _ policy: MergePolicy = .error) throws -> ManagedObjectContext {
        let inverse = RelationshipDescription("groups", to: "Group", isManyToMany ? .many : .one, inverse: "nodes")
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Group",
                relationships: [.init("nodes", to: "Node", .many, inverse: "groups", isOrdered: true)]
            ),
            EntityDescription("Node", attributes: [.init("number", .int64)], relationships: [inverse]),
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        try InterruptedStore.add(to: coordinator, folder.file("groups.store"), HistoryOptions(recordsValues: true))
        let context = ManagedObjectContext(coordinator: coordinator)
        context.mergePolicy = policy
        return context
    }

    private func store(_ context: ManagedObjectContext) throws -> InterruptedStore {
        try InterruptedStore.of(context)
    }

    private func make(_ number: Int, in context: ManagedObjectContext) -> ManagedObject {
        let node = ManagedObject(entity: context.model.entitiesByName["Node"]!, insertInto: context)
        node["number"] = .integer(Int64(number))
        return node
    }

    private func group(_ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(
            try context.fetch(FetchRequest(context.model.entitiesByName["Group"]!), as: ManagedObject.self).first
        )
    }

    private func numbers(_ group: ManagedObject) -> [Int] {
        group.members(forRelationship: "nodes").map { member in
            guard case .integer(let number)? = (member as? ManagedObject)?["number"] else { return -1 }
            return Int(number)
        }
    }

    private func change(_ context: ManagedObjectContext, _ change: Change, _ number: Int, _ isManyToMany: Bool) throws {
        let group = try group(context)
        let existing = try #require(
            try context.fetch(FetchRequest(context.model.entitiesByName["Node"]!), as: ManagedObject.self)
                .first { $0["number"] == .integer(Int64(number)) }
        )
        if change == .appendFromOtherSide {
            if isManyToMany {
                existing.setMembers([group], forRelationship: "groups")
            } else {
                existing.setDestination(group, forRelationship: "groups")
            }
            return
        }
        let members = group.members(forRelationship: "nodes")
        switch change {
        case .appendNew: group.setMembers(members + [make(number + 1, in: context)], forRelationship: "nodes")
        case .reorder: group.setMembers([existing] + members.reversed(), forRelationship: "nodes")
        case .removeFirst: group.setMembers(Array(members.dropFirst()) + [existing], forRelationship: "nodes")
        case .appendExisting, .appendFromOtherSide:
            group.setMembers(members + [existing], forRelationship: "nodes")
        }
    }

    @Test(arguments: [false, true], Change.allCases)
    func `members of both containers have positions of their own`(isManyToMany: Bool, kind: Change) throws {
        for policy in [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite] {
            for count in [0, 1, 3] {
                let first = try context(isManyToMany, policy)
                let new = ManagedObject(entity: first.model.entitiesByName["Group"]!, insertInto: first)
                new.setMembers((0..<count).map { make($0, in: first) }, forRelationship: "nodes")
                _ = [make(100, in: first), make(200, in: first)]
                try first.save()
                let (one, other) = (try context(isManyToMany, policy), try context(isManyToMany, policy))
                try change(one, kind, 100, isManyToMany)
                try change(other, .appendNew, 200, isManyToMany)
                try store(one).beforeSave = { try other.save() }
                try one.save()
                #expect(try store(first).check() == [], "\(policy), \(count) members before")
                let reader = try context(isManyToMany)
                let order = numbers(try group(reader))
                let own = kind == .appendNew ? 101 : 100
                let before = Array(0..<count)
                let kept =
                    switch kind {
                    case .reorder: Array(before.reversed())
                    case .removeFirst: Array(before.dropFirst())
                    case .appendNew, .appendFromOtherSide, .appendExisting: before
                    }
                #expect(Set(order) == Set(kept + [own, 201]))
                #expect(order.filter { $0 < 100 } == kept, "the order of the others stays")
                let recorded = try reader.coordinator.history().last?.changes
                    .compactMap { $0.values.members["nodes"]?.order?.count }.last
                #expect(recorded == order.count, "the history has the order of all members")
                _ = try [one, other].map { try $0.fetch(FetchRequest($0.model.entities[0]), as: ManagedObject.self) }
                #expect(numbers(try group(one)) == order)
                #expect(numbers(try group(other)) == order)
                try erase([first, one, other, reader])
            }
        }
    }

    private func erase(_ contexts: [ManagedObjectContext]) throws {
        for context in contexts { try context.coordinator.removeAllStores() }
        for suffix in ["", "-wal", "-shm"] {
            let path = folder.file("groups.store").path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    /// The positions of the members in the file.
    private func positions(_ context: ManagedObjectContext) throws -> [Int64: Int64] {
        let open = try store(context).opened
        let relationship = try #require(context.model.entitiesByName["Group"]?.relationships.first)
        let table = open.schema.table(of: relationship.destination)
        let column = try #require(table.positionColumns[relationship])
        return try open.database.read { connection in
            try connection.withStatement("SELECT \"_id\", \(column) FROM \(table.name)") { query in
                var positions: [Int64: Int64] = [:]
                while try query.step() { positions[query.integer(at: 0)] = query.integer(at: 1) }
                return positions
            }
        }
    }

    @Test func `only the positions are written that the order needs`() throws {
        let context = try context(false)
        let group = ManagedObject(entity: context.model.entitiesByName["Group"]!, insertInto: context)
        group.setMembers((0..<200).map { make($0, in: context) }, forRelationship: "nodes")
        try context.save()
        func writes(_ change: ([any GraphObject]) -> [any GraphObject]) throws -> Int {
            let before = try positions(context)
            group.setMembers(change(group.members(forRelationship: "nodes")), forRelationship: "nodes")
            try context.save()
            let reader = ManagedObjectContext(coordinator: context.coordinator)
            #expect(numbers(try self.group(reader)) == numbers(group))
            return try positions(context).count { before[$0.key] != $0.value }
        }
        #expect(try writes { $0 + [make(1000, in: context)] } == 1)
        #expect(try writes { Array($0.dropFirst()) } == 0)
        #expect(try writes { Array($0.dropFirst() + $0.prefix(1)) } == 1)
        #expect(
            try writes { members in
                var members = members
                members.swapAt(50, 60)
                return members
            } == 2
        )
        #expect(try writes { $0.reversed() } > 150)
        #expect(try store(context).check() == [])
    }
}
