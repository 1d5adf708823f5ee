package import Foundation
package import ObjectGraph
import TestSupport

/// A store that several processes change concurrently: members of writers, which belong to groups and have friends.
package enum Network {
    package static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Group",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("members", to: "Member", .many, inverse: "group")],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Member",
                attributes: [
                    AttributeDescription("writer", .int64), AttributeDescription("number", .int64),
                    AttributeDescription("text", .string),
                ],
                relationships: [
                    RelationshipDescription("group", to: "Group", .one, inverse: "members"),
                    RelationshipDescription("friends", to: "Member", .many, inverse: "friends"),
                    RelationshipDescription("notes", to: "Note", .many, inverse: "member", deleteRule: .cascade),
                ],
                uniquenessConstraints: [["writer", "number"]]
            ),
            EntityDescription(
                "Note",
                attributes: [AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("member", to: "Member", .one, inverse: "notes")]
            ),
        ])
    }

    package static func open(_ url: URL) throws -> ManagedObjectContext {
        let context = ManagedObjectContext(coordinator: try openCoordinator(url, model: model()))
        context.mergePolicy = .mergeByPropertyObjectTrump
        return context
    }

    /// The numbers of a writer's members in the store, ascending.
    package static func numbers(of writer: Int64, in context: ManagedObjectContext) throws -> [Int64] {
        try context.fetch(FetchRequest(context.model.entitiesByName["Member"]!), as: ManagedObject.self)
            .filter { $0["writer"] == .integer(writer) }
            .compactMap { if case .integer(let number) = $0["number"] { number } else { nil } }
            .sorted()
    }
}

/// Saves random changes of a network: one save for each step.
///
/// A writer inserts and deletes its own members only, so that its acknowledgements determine which of them must exist.
/// It links them with members of other writers, and moves members of other writers between groups.
package struct NetworkWriter {
    /// A step: the insertion or deletion of a member of the writer, or another change.
    package enum Step {
        case insert(Int64), delete(Int64), other
    }

    private let context: ManagedObjectContext
    private let writer: Int64
    private var random: SeededGenerator
    private var nextNumber: Int64 = 1
    private var own: [Int64] = []

    package init(_ context: ManagedObjectContext, writer: Int64) {
        self.context = context
        self.writer = writer
        random = SeededGenerator(seed: UInt64(bitPattern: writer))
    }

    /// Returns a random number below `count`.
    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private func all(_ entity: String) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(context.model.entitiesByName[entity]!), as: ManagedObject.self)
    }

    private func make(_ entity: String, _ values: [String: Value]) -> ManagedObject {
        let object = ManagedObject(entity: context.model.entitiesByName[entity]!, insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    /// Makes a random change without saving it.
    package mutating func prepare() throws -> Step {
        let members = try all("Member")
        switch pick(10) {
        case 0..<5:
            let number = nextNumber
            nextNumber += 1
            let text = Value.text(String(repeating: "member \(number) ", count: pick(200)))
            let member = make("Member", ["writer": .integer(writer), "number": .integer(number), "text": text])
            let groups = try all("Group")
            // Writers insert groups with equal names, which are merged.
            let group = groups.isEmpty || pick(4) == 0 ? make("Group", ["name": .text(String(pick(5)))]) : nil
            member.setDestination(group ?? groups[pick(groups.count)], forRelationship: "group")
            if !members.isEmpty {
                member.setMembers((0..<pick(3)).map { _ in members[pick(members.count)] }, forRelationship: "friends")
            }
            for _ in 0..<pick(3) {
                make("Note", ["text": .text("note")]).setDestination(member, forRelationship: "member")
            }
            return .insert(number)
        case 5..<8 where own.count > 8:
            let number = own[pick(own.count)]
            for member in members where member["writer"] == .integer(writer) && member["number"] == .integer(number) {
                context.delete(member)
            }
            return .delete(number)
        case 8:
            let groups = try all("Group")
            if groups.count > 1 { context.delete(groups[pick(groups.count)]) }
        default:
            guard members.count > 1 else { return .other }
            let member = members[pick(members.count)]
            member.setMembers((0..<pick(4)).map { _ in members[pick(members.count)] }, forRelationship: "friends")
            let groups = try all("Group")
            if !groups.isEmpty { member.setDestination(groups[pick(groups.count)], forRelationship: "group") }
        }
        return .other
    }

    /// Saves the prepared change, or drops it if it conflicts with a change of another writer.
    ///
    /// - Returns: Whether the change is saved.
    package mutating func save(_ step: Step) throws -> Bool {
        do {
            try context.save()
        } catch is ObjectGraphError {
            context.rollback()
            return false
        }
        switch step {
        case .insert(let number): own.append(number)
        case .delete(let number): own.removeAll { $0 == number }
        case .other: break
        }
        // A reset writer reads the changes of other processes.
        if pick(3) == 0 { context.reset() }
        return true
    }
}
