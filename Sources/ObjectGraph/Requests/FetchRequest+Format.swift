extension FetchRequest {
    /// Creates a request for the objects for which a condition in text form holds.
    ///
    /// ```swift
    /// let request = try FetchRequest(book, format: "pages BETWEEN {%d, %d}", arguments: [100, 300])
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity whose objects are fetched.
    ///   - format: The text of the condition; see ``QueryExpression/init(format:arguments:variables:entity:)``.
    ///   - arguments: The values for its specifiers.
    ///   - variables: The values of its variables.
    ///   - sort: The order; empty for the order of primary keys.
    /// - Throws: ``PredicateFormatError`` with the position of the error.
    public init(
        _ entity: Entity,
        format: String,
        arguments: [Any?] = [],
        variables: [String: Any?] = [:],
        sort: [QuerySort] = []
    ) throws(PredicateFormatError) {
        let predicate = try QueryExpression(
            format: format,
            arguments: arguments,
            variables: variables,
            entity: entity
        )
        self.init(entity, predicate: predicate, sort: sort)
    }
}
