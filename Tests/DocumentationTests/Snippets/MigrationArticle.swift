// swift-format-ignore-file
// The Swift code of the article about migration, line by line: a test compares.

import Foundation
import ObjectGraph
import SealedStore

/// The code of the article about migration.
enum MigrationArticle {
    static func open(_ model: ManagedObjectModel, url: URL, key: String) throws {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType, url: url,
                options: [SealedStore.keyOption: key, SealedStore.modelVersionOption: "2.1"]))
    }

    static func rules(_ description: inout PersistentStoreDescription) {
        let rules = [DuplicateRule(entity: "Trip", sort: [.init("modified", ascending: false)])]
        description.options[SealedStore.duplicateRulesOption] = rules
    }

    static func preview(_ description: PersistentStoreDescription, _ model: ManagedObjectModel) throws {
        let preview = try SealedStore.migrationPreview(of: description, to: model)
        for step in preview.steps { print(step) }
        for problem in preview.problems { print(problem) }
    }

    static func stages(_ first: ManagedObjectModel, _ second: ManagedObjectModel) -> [StoreMigrationStage] {
        let stages = [
            StoreMigrationStage(first),
            StoreMigrationStage(second) { coordinator in
                let context = ManagedObjectContext(coordinator: coordinator)
                // Change objects of the first version, and save.
                try context.save()
            },
        ]
        return stages
    }
}
