import Foundation
import ObjectGraph
import SealedStore
import TestSupport

/// The command-line tool, run as a process, and the stores that it reads.
enum ToolFixture {
    static let passphrase = "correct horse"

    /// Runs the tool with a passphrase in its environment.
    static func run(
        _ arguments: String...,
        passphrase: String = passphrase,
        modelPassphrase: String? = nil
    ) throws -> ToolResult {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sealed")
        let environment =
            ["SEALED_PASSPHRASE=\(passphrase)"] + (modelPassphrase.map { ["SEALED_MODEL_PASSPHRASE=\($0)"] } ?? [])
        return try TestSupport.run("env", environment + [tool.path] + arguments)
    }

    /// Opens a store, with migration turned off.
    static func open(
        _ url: URL,
        _ entities: [EntityDescription],
        passphrase: String = passphrase,
        version: String? = nil
    ) throws -> ManagedObjectContext {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: entities))
        var options: [String: any Sendable] = [SealedStore.keyOption: passphrase]
        options[SealedStore.modelVersionOption] = version
        var description = PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        description.shouldMigrateStoreAutomatically = false
        try coordinator.addPersistentStore(description)
        return ManagedObjectContext(coordinator: coordinator)
    }

    /// Creates a store with objects, given by entity and values.
    static func create(
        _ url: URL,
        _ entities: [EntityDescription],
        _ objects: [(entity: String, values: [String: Value])] = [],
        passphrase: String = passphrase,
        version: String? = nil
    ) throws {
        let context = try open(url, entities, passphrase: passphrase, version: version)
        for (name, values) in objects {
            guard let entity = context.model.entitiesByName[name] else { continue }
            let object = ManagedObject(entity: entity, insertInto: context)
            for (property, value) in values { object[property] = value }
        }
        try context.save()
        try context.coordinator.removeAllStores()
    }
}
