/// What can go wrong in this module. Errors of the layers below are thrown as they are, or kept as ``underlyingError``.
///
/// Two errors are equal where they are of the same kind, whatever their explanation:
///
/// ```swift
/// do {
///     let container = try ModelContainer(for: Trip.self)
/// } catch SwiftDataError.modelValidationFailure {
///     …
/// }
/// ```
public struct SwiftDataError: Error, Hashable, Sendable {
    /// The kinds of error.
    enum Code: String, Hashable, Sendable {
        case includePendingChangesWithBatchSize = "unsaved changes cannot be included in a fetch in batches"
        case unsupportedPredicate = "the predicate cannot be translated"
        case unsupportedKeyPath = "the key path leads to no persisted property"
        case sortingPendingChangesWithIdentifiers = "unsaved changes cannot be sorted in a fetch of identifiers"
        case unsupportedSortDescriptor = "the sort descriptor names no persisted property"
        case duplicateConfiguration = "two configurations have the same store"
        case configurationFileNameTooLong = "the name of the configuration is too long for a file"
        case configurationFileNameContainsInvalidCharacters =
            "the name of the configuration contains characters that no file name can"
        case configurationSchemaNotFoundInContainerSchema =
            "the schema of the configuration is not part of the container's schema"
        case loadIssueModelContainer = "the container cannot be opened"
        case modelValidationFailure = "the model classes do not fit each other"
        case missingModelContext = "the object is in no context"
        case backwardMigration = "the store is of a newer version of the schema"
        case unknownSchema = "the store is of a schema that the migration plan does not know"
        case historyTokenExpired = "the history since the token has been deleted"
        case invalidTransactionFetchRequest = "the history cannot be fetched this way"
    }

    let code: Code

    /// What exactly is wrong and what can be done; nil where the kind says it all. It never contains a stored value.
    public let explanation: String?

    /// The error of a lower layer that this one stems from.
    public let underlyingError: (any Error)?

    init(_ code: Code, _ explanation: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.explanation = explanation
        underlyingError = cause
    }

    /// A fetch in batches was to include unsaved changes.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// A predicate contains what the store cannot evaluate.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// A key path leads to something that is not stored.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// A fetch of identifiers was to sort unsaved changes.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// A sort descriptor names something that is not stored.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    /// Two configurations of a container have the same store.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// A configuration's name is too long for a file.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// A configuration's name contains characters that no file name can.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters
    )
    /// A configuration's schema has classes that the container's does not have.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema
    )
    /// A container cannot be opened.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    /// The model classes do not fit each other.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// An object is in no context where it has to be in one.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// A store is of a newer version than the schema.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A store is of a schema that the migration plan does not know.
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    /// The history since a token has been deleted.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// A history cannot be fetched the way it was asked for.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

    /// Whether both are of the same kind.
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.code == right.code }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether an error is of a kind, for `catch` clauses.
    public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
        (error as? SwiftDataError) == pattern
    }
}

extension SwiftDataError: CustomStringConvertible {
    /// The kind, the explanation and the cause.
    public var description: String {
        let cause = underlyingError.map { "\($0)" }.flatMap { explanation?.contains($0) ?? false ? nil : $0 }
        return [code.rawValue, explanation, cause].compactMap(\.self).joined(separator: ": ")
    }
}
