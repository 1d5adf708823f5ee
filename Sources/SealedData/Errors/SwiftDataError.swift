/// An error of this module. Errors of lower layers are thrown unchanged, or become the ``underlyingError``.
///
/// Two errors are equal if they are of the same kind. Their explanations are not compared:
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
        case unknownConfiguration = "the container has no such file"
        case unknownSchema = "the schema does not allow the operation"
        case historyTokenExpired = "the history since the token has been deleted"
        case invalidTransactionFetchRequest = "the history cannot be fetched this way"
    }

    let code: Code

    /// The exact problem and its remedy; nil if the kind describes the problem completely. It never contains a stored
    /// value.
    public let explanation: String?

    /// The error of a lower layer that caused this error.
    public let underlyingError: (any Error)?

    init(_ code: Code, _ explanation: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.explanation = explanation
        underlyingError = cause
    }

    /// Creates the error for a model class that is not in a container's schema. The class is named with its enclosing
    /// types, since the classes of several versions of a schema often have the same name.
    @usableFromInline
    init(classOutsideSchema type: any PersistentModel.Type) {
        let qualified = String(reflecting: type)
        let name = qualified.firstIndex(of: ".").map { qualified[qualified.index(after: $0)...] } ?? qualified[...]
        self.init(.unknownSchema, "class '\(name)' is not in the container's schema")
    }

    /// A fetch in batches includes unsaved changes.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// A predicate contains an expression that the store cannot evaluate.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// A key path does not lead to a persisted property.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// A fetch of identifiers sorts unsaved changes.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// A sort descriptor does not name a persisted property.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    /// Two configurations of a container have the same store.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// A configuration's name is too long for a file name.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// A configuration's name contains characters that are not allowed in a file name.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters
    )
    /// A configuration's schema contains classes that are not in the container's schema.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema
    )
    /// A container cannot be opened.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    /// The model classes contradict each other.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// An operation requires a context, and the object is in no context.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// A store has a newer version than the schema.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A class is not in the schema, or the versions and stages of a migration plan do not form one sequence.
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    /// A container has no encrypted file of a configuration, or several if none was named.
    public static let unknownConfiguration = SwiftDataError(.unknownConfiguration)
    /// The history after a token has been deleted.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// The store does not support this kind of history fetch.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

    /// Whether both are of the same kind.
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.code == right.code }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether an error is of the kind of a pattern, for `catch` clauses.
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
