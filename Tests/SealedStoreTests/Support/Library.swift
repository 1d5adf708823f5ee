import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport

/// Authors and their books, in an encrypted file.
struct Library {
    static let key = EncryptionKey.ofTests

    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    /// - Parameter labelType: The type of the attribute of tags.
    static func model(labelType: AttributeType = .string) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Author",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "author")],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Book",
                attributes: [
                    AttributeDescription("title", .string), AttributeDescription("pages", .int64, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("author", to: "Author", .one, inverse: "books"),
                    RelationshipDescription("tags", to: "Tag", .many, inverse: "books"),
                ],
                indexes: [FetchIndexDescription(["title"])]
            ),
            EntityDescription(
                "Tag",
                attributes: [AttributeDescription("label", labelType)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "tags")]
            ),
        ])
    }

    /// Opens or creates the file.
    init(
        _ url: URL?,
        key: EncryptionKey = Library.key,
        isReadOnly: Bool = false,
        model: ManagedObjectModel? = nil,
        history: HistoryOptions? = nil,
        scanWarnings: ScanWarnings? = nil
    ) throws {
        SealedStore.register()
        coordinator = PersistentStoreCoordinator(model: try model ?? Self.model())
        var options: [String: any Sendable] = [:]
        if url != nil { options[SealedStore.keyOption] = key }
        options[SealedStore.historyOption] = history
        options[SealedStore.scanWarningsOption] = scanWarnings
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                isReadOnly: isReadOnly,
                options: options
            )
        )
        context = ManagedObjectContext(coordinator: coordinator)
    }

    func entity(_ name: String) -> Entity { coordinator.model.entitiesByName[name]! }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Value]) -> ManagedObject {
        let object = ManagedObject(entity: self.entity(entity), insertInto: context)
        for (name, value) in values { object[name] = value }
        return object
    }

    /// The open store.
    func opened() throws -> OpenStore {
        struct IsNoSealedStore: Error {}
        guard let store = try store() as? SealedStore else { throw IsNoSealedStore() }
        return store.opened
    }

    func store() throws -> any IncrementalStore { try coordinator.store(for: coordinator.model.entities[0]).store }

    /// The statistics of the store's database.
    func statistics() throws -> DatabaseStatistics { try opened().database.statistics }

    /// The definitions of tables and indexes.
    func definitions() throws -> [String] {
        try opened().database.read { connection in
            try connection.withStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { statement in
                var texts: [String] = []
                while try statement.step() { texts.append(statement.string(at: 0)) }
                return texts
            }
        }
    }
}
