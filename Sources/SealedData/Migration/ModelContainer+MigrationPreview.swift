public import Foundation

@_exported public import struct SealedStore.MigrationPreview
@_exported public import struct SealedStore.MigrationProblem
@_exported public import struct SealedStore.MigrationStep
@_exported public import struct SealedStore.UnreadableValues

extension ModelContainer {
    /// Examines the migration of existing stores to a schema, without changing them. The preview has the steps in order
    /// with their SQL and the number of rows that they write, the reasons for which the migration would throw, the
    /// values that the types of the properties do not accept, with the numbers of rows, and the data that would be set
    /// aside or would come back.
    ///
    /// The preview describes the inferred migration from the model of a store to the schema. It runs no functions of a
    /// migration plan.
    ///
    /// ```swift
    /// for (url, preview) in try ModelContainer.migrationPreview(for: schema, configurations: configuration) {
    ///     print(url.lastPathComponent, preview.steps.count, preview.problems)
    /// }
    /// ```
    ///
    /// - Returns: The previews by the URL of the store. Configurations without an existing file are omitted.
    /// - Throws: ``SwiftDataError`` if a store cannot be opened, or the schema has problems.
    /// - Complexity: O(*n*) in the number of rows that are checked or would be written.
    public static func migrationPreview(
        for schema: Schema,
        configurations: ModelConfiguration...
    ) throws -> [URL: MigrationPreview] {
        try ContainerOpening(schema: schema, migrationPlan: nil).previews(
            of: configurations.isEmpty ? [ModelConfiguration()] : configurations
        )
    }

    /// Examines the migration of existing stores to the schema of model classes; see
    /// ``migrationPreview(for:configurations:)-(Schema,_)``.
    public static func migrationPreview(
        for types: any PersistentModel.Type...,
        configurations: ModelConfiguration...
    ) throws -> [URL: MigrationPreview] {
        try ContainerOpening(schema: Schema(types), migrationPlan: nil).previews(
            of: configurations.isEmpty ? [ModelConfiguration()] : configurations
        )
    }
}
