import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore

/// A store that is opened with one model after the other.
struct MigratingStore {
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    static func description(
        _ url: URL,
        key: EncryptionKey? = nil,
        isReadOnly: Bool = false,
        allowsMigration: Bool = true,
        options: [String: any Sendable] = [:]
    ) throws -> PersistentStoreDescription {
        SealedStore.register()
        var options = options
        options[SealedStore.keyOption] = try key ?? EncryptionKey.raw(Array(repeating: 5, count: 32))
        var description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: isReadOnly,
            options: options
        )
        description.shouldMigrateStoreAutomatically = allowsMigration
        return description
    }

    init(
        _ url: URL,
        _ entities: [EntityDescription],
        key: EncryptionKey? = nil,
        isReadOnly: Bool = false,
        allowsMigration: Bool = true,
        options: [String: any Sendable] = [:]
    ) throws {
        let description = try Self.description(
            url,
            key: key,
            isReadOnly: isReadOnly,
            allowsMigration: allowsMigration,
            options: options
        )
        coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: entities))
        try coordinator.addPersistentStore(description)
        context = ManagedObjectContext(coordinator: coordinator)
    }

    /// The options of a plan from one version to another, which removes what the second one does not have.
    static func plan(_ first: [EntityDescription], _ second: [EntityDescription]) throws -> [String: any Sendable] {
        let models = try [first, second].map { try ManagedObjectModel(entities: $0) }
        return [SealedStore.migrationStagesOption: models.map { StoreMigrationStage($0) }]
    }

    func entity(_ name: String) -> Entity { coordinator.model.entitiesByName[name]! }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Value] = [:]) -> ManagedObject {
        let object = ManagedObject(entity: self.entity(entity), insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    func store() throws -> SealedStore {
        struct IsNoSealedStore: Error {}
        guard let store = try coordinator.store(for: coordinator.model.entities[0]).store as? SealedStore else {
            throw IsNoSealedStore()
        }
        return store
    }

    func saveAndClose() throws {
        try context.save()
        try close()
    }

    func close() throws { try coordinator.removeAllStores() }

    /// All objects of an entity, without those of subentities, by key.
    func objects(_ name: String) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(entity(name)), as: ManagedObject.self)
            .filter { $0.managedObjectID.entity.name == name }
            .sorted { $0.managedObjectID.key < $1.managedObjectID.key }
    }

    /// The values of an attribute, by key.
    func values(_ entity: String, _ attribute: String) throws -> [Value] { try objects(entity).map { $0[attribute] } }

    /// The content, a line for each object.
    func content() throws -> [String] {
        try coordinator.model.entities.flatMap { entity in
            try objects(entity.name).map { object in
                let values = entity.properties.map { property in
                    switch property {
                    case .attribute: "\(property.name)=\(object[property.name].text)"
                    case .relationship(let relationship) where relationship.isToMany:
                        "\(property.name)=\(keys(object, relationship))"
                    case .relationship:
                        "\(property.name)=\(Self.key(object.destination(forRelationship: property.name)))"
                    }
                }
                return "\(entity.name) \(object.managedObjectID.key): \(values.sorted().joined(separator: ", "))"
            }
        }
    }

    private func keys(_ object: ManagedObject, _ relationship: Relationship) -> [String] {
        let members = object.members(forRelationship: relationship.name).map(Self.key)
        return relationship.isOrdered ? members : members.sorted()
    }

    private static func key(_ object: (any GraphObject)?) -> String {
        (object as? ManagedObject).map { "\($0.managedObjectID.entity.name) \($0.managedObjectID.key)" } ?? "-"
    }

    /// The problems that the check of the store finds.
    func problems() throws -> [String] { try store().check().map(\.description) }

    /// The statements of the schema.
    func definitions() throws -> [String] {
        try store().opened.database.read { connection in
            try connection.withStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { statement in
                var texts: [String] = []
                while try statement.step() { texts.append(statement.string(at: 0)) }
                return texts
            }
        }
    }

    /// The problems for which a migration is refused.
    static func refusal(_ body: () throws -> Void) throws -> [MigrationProblem] {
        do {
            try body()
            return []
        } catch SealedStoreError.cannotMigrate(let problems) {
            return problems
        }
    }
}

extension Value {
    /// The value itself.
    var text: String {
        switch self {
        case .null: "null"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .text(let text): "'\(text)'"
        case .blob(let data) where data.count == 16: UUID(storedValue: self)?.uuidString ?? ""
        case .blob(let data): data.map { String($0, radix: 16) }.joined(separator: " ")
        case .uuid(let uuid): uuid.uuidString
        }
    }
}
