import EncryptedSQLite
import Foundation
import Guarded
import ObjectGraph
@testable import SealedStore

/// The store of the talk about encrypted stores: a subclass with the five methods that the talk names. Each records its
/// call and calls the superclass.
///
/// `@unchecked Sendable`: the only mutable property is guarded.
final class MySecureStore: SealedStore, @unchecked Sendable {
    /// The type that the class is registered under.
    static let type = "MySecureStore"

    /// The requests that the stores of the process received, by file.
    static let calls = Guarded<[URL: [String]]>([:])

    private static func note(_ call: String, of description: PersistentStoreDescription) {
        guard let url = description.url else { return }
        calls.withLock { $0[url, default: []].append(call) }
    }

    private func note(_ call: String) { Self.note(call, of: description) }

    override class func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> Self {
        note("loadMetadata", of: description)
        return try super.loadMetadata(of: description, for: model)
    }

    override func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        note("fetch")
        return try super.execute(request, with: context)
    }

    override func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        note("save")
        return try super.execute(request, with: context)
    }

    override func newValuesForObjects(
        with ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RowBatch {
        note("newValuesForObject")
        return try super.newValuesForObjects(with: ids, with: context)
    }

    override func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
    ) throws -> RelationshipRows {
        note("newValue(forRelationship: \(relationship.name))")
        return try super.newValues(forRelationship: relationship, forObjectsWith: ids, with: context)
    }

    override func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        note("obtainPermanentIDs")
        return try super.obtainPermanentIDs(for: entity, count: count)
    }

    /// The definitions of tables and indexes of an open store.
    static func definitions(of description: PersistentStoreDescription, _ model: ManagedObjectModel) throws -> [String]
    {
        let store = try MySecureStore.loadMetadata(of: description, for: model)
        defer { try? store.close() }
        return try store.opened.database.read { connection in
            try connection.withStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { statement in
                var texts: [String] = []
                while try statement.step() { texts.append(statement.string(at: 0)) }
                return texts
            }
        }
    }
}
