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
public protocol VersionedSchema: SendableMetatype {
    /// The model classes of the version.
    static var models: [any PersistentModel.Type] { get }
    /// The number of the version.
    static var versionIdentifier: Schema.Version { get }
}

/// The versions of an app's schema, oldest first, and the stages between them. No store applies a plan yet.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages, oldest first.
    static var stages: [MigrationStage] { get }
}

/// A migration from one version of a schema to the next. No store applies it yet.
public enum MigrationStage: Sendable {
    /// A migration that the store infers: added, removed and renamed properties, and new rules.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A migration with functions of the program, which change data before it, with the old classes, and after it, with
    /// the new classes.
    case custom(
        fromVersion: any VersionedSchema.Type,
        toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (ModelContext) throws -> Void)?
    )
}
