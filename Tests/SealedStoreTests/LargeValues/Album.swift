import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport

/// Photos with large images, in an encrypted file.
struct Album {
    let url: URL
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    static func model(
        _ name: String = "image",
        from old: String? = nil,
        isLarge: Bool = true,
        others: [AttributeDescription] = []
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Photo",
                attributes: [
                    // Before the image: its value is bound first.
                    .init("thumbnail", .data, isOptional: true),
                    .init(name, .data, isOptional: true, allowsExternalStorage: isLarge, renamingIdentifier: old),
                    .init("name", .string, isOptional: true), .init("number", .int64),
                ] + others
            ),
            EntityDescription("Note", attributes: [.init("text", .string)]),
        ])
    }

    init(_ url: URL, model: ManagedObjectModel? = nil, options: [String: any Sendable] = [:]) throws {
        SealedStore.register()
        self.url = url
        coordinator = PersistentStoreCoordinator(model: try model ?? Self.model())
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: options.merging([SealedStore.keyOption: Library.key]) { $1 }
            )
        )
        context = ManagedObjectContext(coordinator: coordinator)
    }

    var store: SealedStore { coordinator.sealedStores[0] }

    static func bytes(_ count: Int, _ seed: Int = 0) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
    }

    /// A value that has the form of a reference.
    static func reference(_ key: Int64) -> Data { LargeValueReference(key: key).data }

    @discardableResult
    func insert(_ image: Data?, thumbnail: Data? = nil, number: Int = 0) -> ManagedObject {
        let photo = ManagedObject(entity: context.model.entitiesByName["Photo"]!, insertInto: context)
        photo["image"] = image.map(Value.blob) ?? .null
        photo["thumbnail"] = thumbnail.map(Value.blob) ?? .null
        photo["number"] = .integer(Int64(number))
        return photo
    }

    /// The images by number, as a new context reads them.
    func images(_ name: String = "image") throws -> [Int64: Data] {
        let context = ManagedObjectContext(coordinator: coordinator)
        var images: [Int64: Data] = [:]
        for photo in try photos(context) {
            guard case .integer(let number) = photo["number"] else { continue }
            if case .blob(let image) = photo[name] { images[number] = image }
        }
        return images
    }

    func photos(_ context: ManagedObjectContext? = nil) throws -> [ManagedObject] {
        let context = context ?? self.context
        return try context.fetch(
            FetchRequest(context.model.entitiesByName["Photo"]!, sort: [QuerySort(path("number"))]),
            as: ManagedObject.self
        )
    }

    func path(_ name: String) -> QueryExpression {
        let photo = coordinator.model.entitiesByName["Photo"]!
        return .path(from: 0, [photo.propertiesByName[name]!])
    }

    /// A number that the file has.
    func number(_ sql: String) throws -> Int64 { try store.opened.database.read { try $0.integer(sql) ?? -1 } }

    /// The number of values in the table of large values; nil if there is none.
    func largeValueCount() throws -> Int64? {
        let hasTable = try number("SELECT count(*) FROM sqlite_schema WHERE name = '_large'") > 0
        return hasTable ? try number(#"SELECT count(*) FROM "_large""#) : nil
    }

    func problems() throws -> [String] { try context.storeProblems() }

    func close() throws { try coordinator.removeAllStores() }
}
