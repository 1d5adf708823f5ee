/// A version of an app's model classes, usually an enum around the classes of the version.
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

/// The versions of an app's schema, oldest first, and how to get from each to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The steps, oldest first.
    static var stages: [MigrationStage] { get }
}

/// A step from one version of a schema to another.
public enum MigrationStage: Sendable {
    /// The store finds out itself what to change: properties that were added, removed or renamed, and new rules.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// The program changes data before the step, with the old classes, or after it, with the new ones.
    case custom(
        fromVersion: any VersionedSchema.Type,
        toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (ModelContext) throws -> Void)?
    )
}
