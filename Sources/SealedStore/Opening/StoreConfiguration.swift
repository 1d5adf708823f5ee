import EncryptedSQLite
import Foundation
import ObjectGraph

/// The description of a store, with its options as values of their own types.
///
/// A program passes the options in a dictionary. They are parsed once, when the store is opened. `Database.Options` says how
/// to add an option. The key is not among the values: only ``StoreFile`` has it, and an open store does not keep it.
struct StoreConfiguration: Sendable {
    /// The description without the key and without the prepared store.
    private(set) var description: PersistentStoreDescription
    /// The version of the program's model, or the version of the last stage if it is later: a new store has this
    /// version, and an existing store reaches it. Nil if the program does not number its models.
    private(set) var modelVersion: ModelVersion?
    /// The versions through which the store is migrated.
    private(set) var stages: [StoreMigrationStage]
    /// The versions of ``stages``; empty unless all stages have a version.
    private(set) var stageVersions: [ModelVersion]
    private(set) var defaultValues: SealedStore.DefaultValues?
    private(set) var duplicateRules: [DuplicateRule]
    /// Whether the store is opened in the course of a migration, for another model than the program's.
    private(set) var isDuringMigration = false
    let migrationProgress: Progress?
    let durability: Durability
    let memorySecurity: Bool
    let followsOtherProcesses: Bool
    let history: HistoryOptions?
    let scanWarnings: ScanWarnings?

    var isReadOnly: Bool { description.isReadOnly }
    var allowsMigration: Bool { description.shouldMigrateStoreAutomatically }
    /// The names of the entities that the store holds; nil for all entities of the model.
    var entityNames: Set<String>? { description.entityNames }

    /// - Throws: ``SealedStoreError/malformedOption(_:)`` for a value of another type;
    ///   ``SealedStoreError/invalidOption(_:reason:)`` for another value that an option does not take.
    init(_ description: PersistentStoreDescription) throws {
        let options = Options(values: description.options)
        stages = try options.value(SealedStore.migrationStagesOption) ?? []
        stageVersions = try Self.versions(of: stages)
        let version = try options.value(SealedStore.modelVersionOption, as: String.self).map { text in
            guard let version = ModelVersion(text) else {
                throw SealedStoreError.invalidOption(
                    SealedStore.modelVersionOption,
                    reason: "a version has the form 1.2.3"
                )
            }
            return version
        }
        modelVersion = stageVersions.last.map { last in version.map { max($0, last) } ?? last } ?? version
        defaultValues = try options.value(SealedStore.defaultValuesOption)
        duplicateRules = try options.value(SealedStore.duplicateRulesOption) ?? []
        migrationProgress = try options.value(SealedStore.migrationProgressOption)
        durability = try options.value(SealedStore.durabilityOption) ?? .applicationCrash
        memorySecurity = try options.value(SealedStore.memorySecurityOption) ?? false
        followsOtherProcesses = try options.value(SealedStore.followsOtherProcessesOption) ?? false
        history = try options.value(SealedStore.historyOption)
        scanWarnings = try options.value(SealedStore.scanWarningsOption)
        self.description = description
        self.description.options[SealedStore.keyOption] = nil
        self.description.prepared = nil
    }

    /// The versions of stages; empty unless all stages have a version.
    ///
    /// - Throws: ``SealedStoreError/invalidOption(_:reason:)`` for a malformed version, and for versions that do not ascend.
    private static func versions(of stages: [StoreMigrationStage]) throws -> [ModelVersion] {
        let texts = stages.compactMap(\.version)
        guard texts.count == stages.count else { return [] }
        let versions = texts.compactMap(ModelVersion.init)
        // The stages after the version of a store are the stages that remain, so the versions must ascend.
        guard versions.count == texts.count, zip(versions, versions.dropFirst()).allSatisfy(<) else {
            throw SealedStoreError.invalidOption(
                SealedStore.migrationStagesOption,
                reason: "the versions of the stages have the form 1.2.3, and ascend"
            )
        }
        return versions
    }

    /// The options as a program has set them.
    private struct Options {
        let values: [String: any Sendable]

        func value<Value>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
            guard let option = values[name] else { return nil }
            guard let value = option as? Value else { throw SealedStoreError.malformedOption(name) }
            return value
        }
    }

    // MARK: Models

    /// Whether the store holds all entities of a model.
    func holds(wholeOf model: ManagedObjectModel) -> Bool {
        entityNames.map { $0.count >= model.entities.count } ?? true
    }

    /// The part of a model that the store holds; the whole model if the description names no entities.
    ///
    /// - Throws: `ModelError` if a relationship or an inheritance leads to an entity of another store.
    func part(of model: ManagedObjectModel) throws -> ManagedObjectModel {
        guard let names = entityNames, !holds(wholeOf: model) else { return model }
        return try ManagedObjectModel(
            entities: model.entities.filter { names.contains($0.name) }.map(\.description)
        )
    }

    // MARK: Derived configurations

    /// The configuration with which the store is opened for reading only.
    var forReading: StoreConfiguration {
        var configuration = self
        configuration.description.isReadOnly = true
        return configuration
    }

    /// The configuration of the store for another model than the program's, in the course of a migration. It has no stages,
    /// and no version: the version of the program is recorded after the last stage.
    func duringMigration(
        holding entityNames: Set<String>?,
        _ defaultValues: SealedStore.DefaultValues?,
        _ duplicateRules: [DuplicateRule]
    ) -> StoreConfiguration {
        var configuration = self
        configuration.description.type = SealedStore.storeType
        configuration.description.entityNames = entityNames
        configuration.description.options[SealedStore.modelVersionOption] = nil
        configuration.description.options[SealedStore.migrationStagesOption] = nil
        configuration.isDuringMigration = true
        configuration.modelVersion = nil
        configuration.stages = []
        configuration.stageVersions = []
        configuration.defaultValues = defaultValues
        configuration.duplicateRules = duplicateRules
        return configuration
    }
}
