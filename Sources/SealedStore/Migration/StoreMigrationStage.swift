public import ObjectGraph

/// A version of a model in a staged migration, with the code that runs when a store is migrated to it.
///
/// The stages are the versions of the model in order, including the first one. A store begins with the stage after the
/// version that it has reached. A store whose model is not the model of any version is migrated by inference to the
/// first version for which that is possible without losing an entity or property that a later version has. If the code
/// of that stage, or of an earlier stage, has not run on the store, the store is refused, see ``admitsOtherModels``.
///
/// Several versions may have the same model, so that a stage only changes data. If all stages have a ``version``, a
/// store records the version that it has reached: the code of each later stage runs once. A store without a record
/// begins with the stage after the first version whose model it has if code follows, otherwise with the stage after the
/// last version whose model it has. Without versions, and in a store that holds a part of the entities, a store begins
/// after the last version whose model it has: then the code of a stage runs only if the stage changes entities of the
/// store.
///
/// Each stage is one transaction, including its code: at every instant the store has one complete version. The code
/// reads and writes through contexts of the given coordinator, on the calling thread, and its reads include its own
/// saves. The coordinator has no store after the code returns. Its store cannot be compacted, nor can its key be changed:
/// both throw ``SealedStoreError/isMigrating(operation:)``. Locking and suspending it do nothing. A further container that
/// the code opens for the file reads the state before the stage, and throws `DatabaseError.nestedWrite` if it has to write,
/// also to migrate the store.
public struct StoreMigrationStage: Sendable {
    /// Code that runs in the transaction of a stage. If it throws, the stage is rolled back, and opening the store
    /// throws.
    public typealias Code = @Sendable (PersistentStoreCoordinator) throws -> Void

    /// The model of the version.
    public let model: ManagedObjectModel
    /// The number of the version: numbers separated by points, as in ``SealedStore/SealedStore/modelVersionOption``.
    /// The numbers of the stages ascend.
    public var version: String?
    /// The values that the stage writes into rows without a value; nil for the values of
    /// ``SealedStore/SealedStore/defaultValuesOption``.
    public var defaultValues: SealedStore.DefaultValues?
    /// The classes of the version's objects by entity name. Objects of other entities are instances of `ManagedObject`.
    public var classes: [String: any GraphObject.Type]
    /// The rules for duplicates of uniqueness constraints that the version adds. They apply after `willMigrate`.
    public var duplicateRules: [DuplicateRule] = []
    /// Runs on the model of the previous version.
    public var willMigrate: Code?
    /// Runs on the model of the version, after its tables are filled.
    public var didMigrate: Code?
    /// Whether a store whose model is not the model of any version may enter at this stage although code of this stage,
    /// or of an earlier stage, has not run on it. By default, opening such a store throws
    /// ``SealedStoreError/skippedStages(stages:differences:)``.
    public var admitsOtherModels = false

    /// Whether the stage runs code.
    var hasCode: Bool { willMigrate != nil || didMigrate != nil }

    /// Creates a stage.
    public init(
        _ model: ManagedObjectModel,
        version: String? = nil,
        classes: [String: any GraphObject.Type] = [:],
        willMigrate: Code? = nil,
        didMigrate: Code? = nil,
        defaultValues: SealedStore.DefaultValues? = nil
    ) {
        self.model = model
        self.version = version
        self.defaultValues = defaultValues
        self.classes = classes
        self.willMigrate = willMigrate
        self.didMigrate = didMigrate
    }
}
