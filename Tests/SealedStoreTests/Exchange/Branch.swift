import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport

/// A store that exchanges its changes with others, with every kind of relationship and delete rule.
struct Branch {
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    static func declarations() -> [EntityDescription] {
        [
            EntityDescription(
                "Party",
                attributes: [
                    AttributeDescription("code", .string),
                    AttributeDescription("note", .string, isOptional: true),
                    AttributeDescription("balance", .decimal, isOptional: true),
                    AttributeDescription("photo", .data, isOptional: true, allowsExternalStorage: true),
                    AttributeDescription("rank", .double, isOptional: true),
                    AttributeDescription("joined", .date, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("orders", to: "Order", .many, inverse: "customer", deleteRule: .deny),
                    RelationshipDescription("friends", to: "Party", .many, inverse: "friends"),
                    RelationshipDescription("badge", to: "Badge", .one, inverse: "party", deleteRule: .cascade),
                ],
                uniquenessConstraints: [["code"]]
            ),
            EntityDescription(
                "Member",
                superentity: "Party",
                attributes: [AttributeDescription("level", .int64, isOptional: true)],
                relationships: [
                    RelationshipDescription("seat", to: "Seat", .one, inverse: "holder", deleteRule: .cascade)
                ],
                uniquenessConstraints: [["level"]]
            ),
            EntityDescription(
                "Order",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [
                    RelationshipDescription("customer", to: "Party", .one, inverse: "orders", isOptional: false),
                    RelationshipDescription(
                        "lines",
                        to: "Line",
                        .many,
                        inverse: "order",
                        deleteRule: .cascade,
                        isOrdered: true
                    ),
                ]
            ),
            EntityDescription(
                "Line",
                attributes: [AttributeDescription("amount", .int64)],
                relationships: [
                    RelationshipDescription("order", to: "Order", .one, inverse: "lines", isOptional: false),
                    RelationshipDescription("item", to: "Item", .one),
                ]
            ),
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("name", .string), AttributeDescription("sku", .string, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("category", to: "Category", .one, inverse: "items"),
                    RelationshipDescription("tags", to: "Tag", .many, inverse: "items", isOrdered: true),
                ],
                uniquenessConstraints: [["sku"]]
            ),
            EntityDescription(
                "Category",
                attributes: [AttributeDescription("title", .string)],
                relationships: [
                    RelationshipDescription("items", to: "Item", .many, inverse: "category", isOrdered: true)
                ]
            ),
            EntityDescription(
                "Tag",
                attributes: [AttributeDescription("label", .string)],
                relationships: [RelationshipDescription("items", to: "Item", .many, inverse: "tags")],
                uniquenessConstraints: [["label"]]
            ),
            EntityDescription(
                "Badge",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [RelationshipDescription("party", to: "Party", .one, inverse: "badge")]
            ),
            EntityDescription(
                "Seat",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [
                    RelationshipDescription("holder", to: "Member", .one, inverse: "seat", isOptional: false)
                ]
            ),
        ]
    }

    init(
        _ url: URL?,
        history: HistoryOptions? = HistoryOptions(identifiesObjects: true),
        declarations: [EntityDescription] = Branch.declarations(),
        duplicateRules: [DuplicateRule] = []
    ) throws {
        coordinator = try .withSealedStore(
            url,
            declarations,
            key: .raw(0..<32),
            history: history,
            duplicateRules: duplicateRules
        )
        context = ManagedObjectContext(coordinator: coordinator)
    }

    func entity(_ name: String) -> Entity { coordinator.model.entitiesByName[name]! }

    /// Inserts an object, and saves.
    @discardableResult
    func insert(_ entity: String, _ values: [String: Value], _ relations: [String: ManagedObject] = [:]) throws
        -> ManagedObject
    {
        let object = ManagedObject(entity: self.entity(entity), insertInto: context)
        for (name, value) in values { object[name] = value }
        for (name, destination) in relations { object.setDestination(destination, forRelationship: name) }
        try context.save()
        return object
    }

    /// Deletes an object, and saves.
    func delete(_ object: ManagedObject) throws {
        context.delete(object)
        try context.save()
    }

    /// Changes a value, and saves.
    func set(_ object: ManagedObject, _ name: String, _ value: Value) throws {
        object[name] = value
        try context.save()
    }

    var store: SealedStore {
        get throws { try coordinator.sealedStore }
    }

    func identifier(_ object: ManagedObject) throws -> UUID? {
        try store.globalIdentifier(of: object.managedObjectID)
    }

    /// The object that is the same as one of another store; nil if it does not exist here.
    func object(_ identifier: UUID?) throws -> ManagedObject? {
        guard let identifier, let id = try store.objectID(forGlobalIdentifier: identifier) else { return nil }
        return try context.existingObject(with: id) as? ManagedObject
    }

    /// The only object of an entity.
    func only(_ name: String) throws -> ManagedObject? {
        let objects = try context.fetch(FetchRequest(entity(name)), as: ManagedObject.self)
        return objects.count == 1 ? objects[0] : nil
    }

    func count(_ name: String) throws -> Int { try context.count(FetchRequest(entity(name))) }

    // MARK: Exchanging

    /// Applies what the log has, and appends the changes.
    ///
    /// - Returns: the conflicts.
    @discardableResult
    func exchange(_ log: ChangeLog, _ policy: MergePolicy = .mergeByPropertyStoreTrump) throws -> [ExchangeConflict] {
        var conflicts = try receive(log, policy)
        while let changes = try coordinator.changeSet() {
            _ = log.append(changes)
            conflicts += try receive(log, policy)
        }
        return conflicts
    }

    /// Applies what the log has.
    @discardableResult
    func receive(_ log: ChangeLog, _ policy: MergePolicy = .mergeByPropertyStoreTrump) throws -> [ExchangeConflict] {
        var conflicts: [ExchangeConflict] = []
        for changes in log.changeSets(after: try coordinator.exchangeState().position) {
            conflicts += try coordinator.apply(changes, mergePolicy: policy).conflicts
        }
        return conflicts
    }

    // MARK: Content

    /// The bits of a value: a description of a value does not contain it.
    private func text(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real.bitPattern)"
        case .text(let text): text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
        case .blob(let data): data.base64EncodedString()
        case .uuid(let uuid): uuid.uuidString
        }
    }

    /// The values of all objects by global identifier and property.
    func content() throws -> [String: [String: String]] {
        var content: [String: [String: String]] = [:]
        let context = ManagedObjectContext(coordinator: coordinator)
        func name(_ object: any GraphObject) throws -> String {
            try store.globalIdentifier(of: object.managedObjectID)?.uuidString ?? "?"
        }
        for entity in coordinator.model.entities where entity.isRoot {
            for object in try context.fetch(FetchRequest(entity), as: ManagedObject.self) {
                var values: [String: String] = [:]
                for property in object.entity.properties {
                    switch property {
                    case .attribute(let attribute):
                        values[property.name] = text(object._$storedValue(at: attribute.slot))
                    case .relationship(let relationship) where relationship.isToMany:
                        let names = try object.memberObjects(at: relationship.slot).map(name)
                        values[property.name] = (relationship.isOrdered ? names : names.sorted()).joined(separator: " ")
                    case .relationship(let relationship):
                        values[property.name] = try object.destination(at: relationship.slot).map(name) ?? ""
                    }
                }
                content["\(object.entity.name) \(try name(object))"] = values
            }
        }
        return content
    }
}

/// A common order of change sets, as a service would keep it.
final class ChangeLog {
    private(set) var changeSets: [ChangeSet] = []

    /// Appends a change set if its sequence is the next one. It passes through its coded form.
    func append(_ changeSet: ChangeSet) -> Bool {
        guard changeSet.sequence == Int64(changeSets.count + 1) else { return false }
        guard let data = try? JSONEncoder().encode(changeSet),
            let decoded = try? JSONDecoder().decode(ChangeSet.self, from: data), decoded == changeSet
        else { preconditionFailure("a change set has a coded form") }
        changeSets.append(decoded)
        return true
    }

    func changeSets(after position: Int64) -> ArraySlice<ChangeSet> { changeSets[Int(position)...] }
}

extension ManagedObject {
    /// The destination of a to-one relationship.
    func partner(_ relationship: String) -> ManagedObject? {
        destination(forRelationship: relationship) as? ManagedObject
    }
}
