/// A version of an app's model classes, usually an enum that contains the classes of the version.
///
/// ```swift
/// enum SchemaV1: VersionedSchema {
///     static let versionIdentifier = Schema.Version(1, 0, 0)
///     static var models: [any PersistentModel.Type] { [Trip.self] }
///
///     @Model final class Trip { … }
/// }
/// ```
///
/// Classes of different versions may have the same name. The entity of a class has the name of the class without its
/// enclosing types, so that `SchemaV1.Trip` and `SchemaV2.Trip` are versions of the entity `Trip`.
public protocol VersionedSchema: SendableMetatype {
    /// The model classes of the version.
    static var models: [any PersistentModel.Type] { get }
    /// The number of the version. The numbers of the versions of a plan ascend.
    static var versionIdentifier: Schema.Version { get }
}

/// The versions of an app's schema, oldest first, and the stages between them.
///
/// A container that is opened with a plan migrates each of its stores through the remaining stages. A store begins with
/// the stage after the last version whose model it has, because a store contains the description of its own model. A
/// store that has the model of no version is migrated by inference to the first version that keeps all data which a
/// later version has a place for. If functions of the stages up to that version have not run on the store, it is
/// refused, see ``admitsUndeclaredVersions``.
///
/// Each stage is one transaction, which includes its functions: if one of them throws, or the process ends, the store
/// has the version before the stage, and the next opening continues there.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages, oldest first, at most one to each version. A store is migrated to a version without a stage as by a
    /// lightweight stage.
    static var stages: [MigrationStage] { get }
    /// The rules for objects with the same values in properties that a version makes unique. A rule applies to each
    /// version whose class has the name and the properties, after the function `willMigrate`. The default is no rule:
    /// duplicates are an error.
    static var duplicateRules: [DuplicateRule] { get }
    /// Whether a store whose schema lies between two versions may pass stages without their functions, which take the
    /// objects of the declared versions. The default is false: the container throws
    /// ``SwiftDataError/loadIssueModelContainer`` with the stages and the differences, and the store is unchanged. To
    /// have the functions run, declare the schema of such stores as a version of the plan.
    static var admitsUndeclaredVersions: Bool { get }
}

extension SchemaMigrationPlan {
    /// No rules.
    public static var duplicateRules: [DuplicateRule] { [] }

    /// False.
    public static var admitsUndeclaredVersions: Bool { false }
}

/// A migration from one version of a schema to the next.
public enum MigrationStage: Sendable {
    /// A migration that is inferred from the differences between the versions: entities and properties added, removed
    /// and renamed, types that convert exactly, and new rules.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A migration with functions of the program. `willMigrate` reads and changes the objects of the old classes before
    /// the inferred migration, and `didMigrate` the objects of the new classes after it. Each function saves its
    /// context; changes that it does not save are discarded.
    ///
    /// The stage is one transaction, in which the functions run. Therefore the container of the context cannot be
    /// compacted, nor its key changed (`SealedStoreError.isMigrating`), and locking or suspending it does nothing. A
    /// further container that a function opens for the same file reads the state before the stage, and throws
    /// `DatabaseError.nestedWrite` if it has to write, also to migrate the store.
    ///
    /// The functions may share captured variables, as in SwiftData; the Swift 6 mode warns of them. The functions of a
    /// stage run one after the other.
    @preconcurrency case custom(
        fromVersion: any VersionedSchema.Type,
        toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (ModelContext) throws -> Void)?
    )
}

extension MigrationStage {
    /// The version before the stage.
    var fromVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(let version, _), .custom(let version, _, _, _): version
        }
    }

    /// The version after the stage.
    var toVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(_, let version), .custom(_, let version, _, _): version
        }
    }
}
