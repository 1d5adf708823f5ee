/// The text form of a predicate, read as far as that goes without a model.
package struct PredicateFormat: Sendable {
    private let format: String
    private let syntax: FormatSyntax

    /// - Throws: ``PredicateFormatError`` where the text does not follow the grammar.
    package init(_ format: String) throws(PredicateFormatError) {
        self.format = format
        syntax = try FormatParser.parse(format)
    }

    /// The condition on an object.
    ///
    /// - Throws: ``PredicateFormatError`` where a name is not in the model, types do not fit, or arguments are missing.
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

    /// The value that is computed from an object.
    ///
    /// - Throws: as ``condition(on:arguments:variables:)``.
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
    /// Reads a condition from its text form, in the syntax of `NSPredicate`'s format strings.
    ///
    /// ```swift
    /// let condition = try QueryExpression(
    ///     format: "name CONTAINS[cd] %@ AND ANY tags.label IN %@",
    ///     arguments: ["kokoro", ["novel", "classic"]],
    ///     entity: book
    /// )
    /// ```
    ///
    /// Arguments never become part of the text: whatever they contain, the condition has the meaning that its format
    /// gives it.
    ///
    /// - Parameters:
    ///   - format: The text; see <doc:PredicateFormats>.
    ///   - arguments: The values for `%@` and the other specifiers, in their order: nil, values of attributes, enums with
    ///     raw values, objects and their identifiers, collections of these, and ranges. `%K` takes the name of a property,
    ///     or a key path.
    ///   - variables: The values of variables such as `$LIMIT`.
    ///   - entity: The entity of the objects that the condition is on.
    /// - Throws: ``PredicateFormatError`` with the place of the mistake.
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

    /// Reads a value from its text form, in the syntax of `NSExpression`'s format strings: something to sort by, or a column
    /// of a ``DictionaryFetchRequest``.
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
    /// - Throws: ``PredicateFormatError`` with the place of the mistake.
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
