import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport

/// People with every kind of relationship, in a file with a history.
struct Club {
    static let key = EncryptionKey.ofTests

    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    static func declarations() -> [EntityDescription] {
        [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("name", .string, preservesValueOnDeletion: true),
                    AttributeDescription("height", .double, isOptional: true),
                    AttributeDescription("photo", .data, isOptional: true, allowsExternalStorage: true),
                ],
                relationships: [
                    RelationshipDescription("team", to: "Team", .one, inverse: "members"),
                    RelationshipDescription("passport", to: "Passport", .one, inverse: "holder", deleteRule: .cascade),
                    RelationshipDescription("friends", to: "Person", .many, inverse: "friends"),
                    RelationshipDescription("groups", to: "Group", .many, inverse: "people"),
                ]
            ),
            EntityDescription(
                "Student",
                superentity: "Person",
                attributes: [AttributeDescription("school", .string, isOptional: true)]
            ),
            EntityDescription(
                "Team",
                attributes: [AttributeDescription("title", .string)],
                relationships: [RelationshipDescription("members", to: "Person", .many, inverse: "team")]
            ),
            EntityDescription(
                "Passport",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [RelationshipDescription("holder", to: "Person", .one, inverse: "passport")],
                uniquenessConstraints: [["number"]]
            ),
            EntityDescription(
                "Group",
                attributes: [AttributeDescription("label", .string)],
                relationships: [
                    RelationshipDescription("people", to: "Person", .many, inverse: "groups", isOrdered: true),
                    RelationshipDescription("guests", to: "Person", .many),
                ]
            ),
        ]
    }

    init(_ url: URL?, history: HistoryOptions? = HistoryOptions(), key: EncryptionKey = Club.key) throws {
        coordinator = try .withSealedStore(url, Self.declarations(), key: key, history: history)
        context = ManagedObjectContext(coordinator: coordinator)
    }

    func entity(_ name: String) -> Entity { coordinator.model.entitiesByName[name]! }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Value]) -> ManagedObject {
        let object = ManagedObject(entity: self.entity(entity), insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    func person(_ name: String, _ entity: String = "Person") -> ManagedObject { insert(entity, ["name": .text(name)]) }

    var store: SealedStore {
        get throws { try coordinator.sealedStore }
    }

    func check() throws -> [StoreProblem] { try store.check() }

    /// The changes of the transactions after a number, a line each: kind, entity and key, changed properties.
    func lines(after number: Int64 = 0) throws -> [String] {
        try coordinator.history(HistoryFetchRequest(after: number)).flatMap(\.lines)
    }

    var lastTransaction: Int64 { get throws { try coordinator.historyState().lastTransaction } }
}

extension PersistentHistoryTransaction {
    /// The changes, a line each.
    var lines: [String] { changes.map(\.line) }
}

extension PersistentHistoryChange {
    fileprivate var line: String {
        let place = "\(objectID.entity.name) \(objectID.key)"
        return switch kind {
        case .insert: "+ \(place)"
        case .update: "* \(place): " + updatedProperties.map(\.name).sorted().joined(separator: " ")
        case .delete: "- \(place)"
        }
    }
}

extension ManagedObject {
    /// Adds a member to a to-many relationship.
    func add(_ member: ManagedObject, to relationship: String) {
        addMember(member, at: entity.relationship(named: relationship)!.slot)
    }

    /// Removes a member from a to-many relationship.
    func remove(_ member: ManagedObject, from relationship: String) {
        removeMember(member, at: entity.relationship(named: relationship)!.slot)
    }

    var key: Int64 { managedObjectID.key }
}
