import ArgumentParser
import Foundation
import ObjectGraph
import SealedData
import SealedStore
import Terminal

/// `sealed migrate FILE --to OTHER`: migrates a store to the model of another store, or shows how it would be migrated.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to the model of another store, or shows the steps and the problems.",
        discussion: """
            The other store is any store that the new version of a program has created; its objects are not read. The \
            migration is inferred from the two models, without the stages of a program. A store's model contains no \
            default values: an added required property of existing objects is a problem. The store is migrated in one \
            transaction, or not at all.

            The passphrase of the other store comes from the environment variable SEALED_MODEL_PASSPHRASE. Without it, \
            the key of the store is used.

            The exit status is 0 if the store fits or can be migrated, and 1 if it has problems.
            """
    )

    /// The exit status for a store that cannot be migrated.
    private static let problemsStatus = ExitCode(ExitStatus.problemsFound.rawValue)
    private static let modelPassphraseVariable = "SEALED_MODEL_PASSPHRASE"

    @OptionGroup var arguments: StoreArguments

    @Option(name: .customLong("to"), help: "The file of the store that has the new model.")
    var modelFile: String

    @Flag(help: "Only show the steps and the problems. The store stays as it is.")
    var dryRun = false

    @Flag(help: "Show the SQL statements of the steps.")
    var sql = false

    @Option(
        name: .customLong("keep-first"),
        help: """
            An entity of whose objects with the same unique values only the first inserted one is kept, with the \
            relationships of the others. Can be repeated.
            """
    )
    var keepFirst: [String] = []

    func run() throws { try ExitStatus.reporting(migrate) }

    private func migrate() throws {
        let key = try arguments.key.key(of: arguments.file)
        let modelKey = try KeySource(default: Self.modelPassphraseVariable)?.key(.passphrase) ?? key
        let (model, version) = try SealedStore.recordedModel(of: description(of: modelFile, modelKey, isReadOnly: true))
        for name in keepFirst where model.entitiesByName[name] == nil {
            throw CommandError.unknownEntity(name, known: model.entities.map(\.name))
        }
        var description = description(of: arguments.file, key, isReadOnly: dryRun)
        description.options[SealedStore.modelVersionOption] = version
        description.options[SealedStore.duplicateRulesOption] = keepFirst.map { DuplicateRule(entity: $0) }
        let preview = try SealedStore.migrationPreview(of: description, to: model)
        try show(preview)
        guard preview.problems.isEmpty else { throw Self.problemsStatus }
        guard !dryRun, !preview.steps.isEmpty else { return }
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: model)
        do {
            try coordinator.addPersistentStore(description)
        } catch SealedStoreError.cannotMigrate(let problems) {
            // Another program has changed the objects after the preview.
            try show("problems", problems)
            throw Self.problemsStatus
        }
        try coordinator.removeAllStores()
        try Output.print()
        try Output.print("migrated")
    }

    private func description(
        of file: String,
        _ key: EncryptionKey,
        isReadOnly: Bool
    ) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: SealedStore.storeType,
            url: URL(filePath: file, directoryHint: .notDirectory),
            isReadOnly: isReadOnly,
            options: [SealedStore.keyOption: key]
        )
    }

    // MARK: Output

    private func show(_ preview: MigrationPreview) throws {
        guard !preview.steps.isEmpty else { return try Output.print("the store has this model") }
        try show("differences", preview.differences)
        if !preview.differences.isEmpty { try Output.print() }
        for (title, items) in [("set aside", preview.setAside), ("comes back", preview.returning)] where !items.isEmpty
        {
            try Output.print(title)
            for item in items { try Output.print("  \(item.line)") }
            try Output.print()
        }
        try Output.print("steps")
        for step in preview.steps {
            try Output.print("  \(step.description)")
            if sql { for statement in step.sql { try Output.print("    \(statement);") } }
        }
        if preview.expectedSpace > 0 {
            try Output.print()
            try Output.print("space")
            try Output.print("  an estimated \(preview.expectedSpace.grouped) bytes besides the file")
        }
        try show("problems", preview.problems)
    }

    private func show(_ title: String, _ lines: [some CustomStringConvertible]) throws {
        guard !lines.isEmpty else { return }
        if title != "differences" { try Output.print() }
        try Output.print(title)
        for line in lines { try Output.print("  \(line.description)") }
    }
}
