/// A state of a store's file, as far as statements depend on it.
final class FileState: Sendable {
    /// The schema in that state.
    let schema: StoreSchema
    /// The statements of fetches in that state.
    let fetchStatements = FetchStatementCache()

    init(_ schema: StoreSchema) {
        self.schema = schema
    }
}
