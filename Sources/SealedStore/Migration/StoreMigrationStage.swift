public import ObjectGraph

/// A version of a model on the way of a staged migration, and the code that runs when a store reaches it.
///
/// The stages of a store are its versions in order, the first one included. A store enters them behind the last version
/// whose model it has. A store with the model of no version is migrated by inference to the first version for which that is
/// possible, without the code of that stage.
///
/// Each stage is one transaction, its code included: a store has either version, complete, whatever happens. Code reads and
/// writes through contexts of the coordinator that it is passed, on the calling thread, and sees what it has saved. The
/// coordinator has no store any more when the code returns.
public struct StoreMigrationStage: Sendable {
    /// Code that runs in the transaction of a stage. An error that it throws rolls the stage back, and ends the opening.
    public typealias Code = @Sendable (PersistentStoreCoordinator) throws -> Void

    /// The model of the version.
    public let model: ManagedObjectModel
    /// The classes of the version's objects by entity name; `ManagedObject` for the others.
    public var classes: [String: any GraphObject.Type]
    /// Runs on the model of the version before.
    public var willMigrate: Code?
    /// Runs on the model of the version, when its tables have their data.
    public var didMigrate: Code?

    /// Makes a stage.
    public init(
        _ model: ManagedObjectModel,
        classes: [String: any GraphObject.Type] = [:],
        willMigrate: Code? = nil,
        didMigrate: Code? = nil
    ) {
        self.model = model
        self.classes = classes
        self.willMigrate = willMigrate
        self.didMigrate = didMigrate
    }
}
