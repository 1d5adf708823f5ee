/// The parsed text form of a predicate, not yet bound to a model.
package struct PredicateFormat: Sendable {
    private let format: String
    private let syntax: FormatSyntax

    /// - Throws: ``PredicateFormatError`` if the text does not follow the grammar.
    package init(_ format: String) throws(PredicateFormatError) {
        self.format = format
        syntax = try FormatParser.parse(format)
    }

    /// Returns the condition on an object.
    ///
    /// - Throws: ``PredicateFormatError`` for an unknown name, mismatched types, and missing arguments.
    package func condition(
        on subject: FormatSubject,
        arguments: [PredicateArgument],
        variables: [String: PredicateArgument]
    ) throws(PredicateFormatError) -> QueryExpression {
        var reader = FormatReader(format, subject, arguments: arguments, variables: variables)
        let condition = try reader.condition(syntax)
        try reader.checkArguments()
        return condition
    }

    /// Returns the value that is computed from an object.
    ///
    /// - Throws: ``PredicateFormatError`` like ``condition(on:arguments:variables:)``.
    func value(
        of subject: FormatSubject,
        arguments: [PredicateArgument],
        variables: [String: PredicateArgument]
    ) throws(PredicateFormatError) -> QueryExpression {
        var reader = FormatReader(format, subject, arguments: arguments, variables: variables)
        let value = try reader.value(syntax).value
        try reader.checkArguments()
        return value
    }
}

extension QueryExpression {
    /// Creates a condition from its text form, in the syntax of `NSPredicate`'s format strings.
    ///
    /// ```swift
    /// let condition = try QueryExpression(
    ///     format: "name CONTAINS[cd] %@ AND ANY tags.label IN %@",
    ///     arguments: ["kokoro", ["novel", "classic"]],
    ///     entity: book
    /// )
    /// ```
    ///
    /// Arguments never become part of the text: their contents do not change the meaning of the format.
    ///
    /// - Parameters:
    ///   - format: The text; see <doc:PredicateFormats>.
    ///   - arguments: The values for `%@` and the other specifiers, in their order: nil, values of attributes, enums
    ///     with raw values, objects and their identifiers, collections of these, and ranges. The argument of `%K` is
    ///     the name of a property, or a key path.
    ///   - variables: The values of variables such as `$LIMIT`.
    ///   - entity: The entity of the objects that the condition is on.
    /// - Throws: ``PredicateFormatError`` with the position of the error.
    public init(
        format: String,
        arguments: [Any?] = [],
        variables: [String: Any?] = [:],
        entity: Entity
    ) throws(PredicateFormatError) {
        self = try PredicateFormat(format).condition(
            on: FormatSubject(entity),
            arguments: arguments.map { PredicateArgument($0) },
            variables: variables.mapValues { PredicateArgument($0) }
        )
    }

    /// Creates a value from its text form, in the syntax of `NSExpression`'s format strings: a sort expression, or a
    /// column of a `DictionaryFetchRequest`.
    ///
    /// ```swift
    /// let total = try QueryExpression(valueFormat: "chapters.@sum.pages + preface", entity: book)
    /// ```
    ///
    /// - Parameters:
    ///   - valueFormat: The text; see <doc:PredicateFormats>.
    ///   - arguments: The values for `%@` and the other specifiers.
    ///   - variables: The values of variables.
    ///   - entity: The entity of the objects that the value is computed from.
    /// - Throws: ``PredicateFormatError`` with the position of the error.
    public init(
        valueFormat: String,
        arguments: [Any?] = [],
        variables: [String: Any?] = [:],
        entity: Entity
    ) throws(PredicateFormatError) {
        self = try PredicateFormat(valueFormat).value(
            of: FormatSubject(entity),
            arguments: arguments.map { PredicateArgument($0) },
            variables: variables.mapValues { PredicateArgument($0) }
        )
    }
}
