extension FetchRequest {
    /// Makes a request for the objects that fulfil a condition in its text form.
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
    ///   - sort: The order; by primary key where it is empty.
    /// - Throws: ``PredicateFormatError`` with the place of the mistake.
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
