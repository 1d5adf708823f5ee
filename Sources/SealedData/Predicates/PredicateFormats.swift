public import Foundation
import ObjectGraph
@_exported public import struct QueryLanguage.PredicateFormatError

extension PersistentModel {
    /// Returns a predicate from its text form, in the syntax of `NSPredicate`'s format strings.
    ///
    /// The predicate can be used in a ``FetchDescriptor``, combined with predicates of `#Predicate`, and evaluated.
    ///
    /// ```swift
    /// let text = "name CONTAINS[cd] %@ AND ANY tags.label IN %@"
    /// let predicate = try Trip.predicate(format: text, arguments: ["kyoto", ["museum", "garden"]])
    /// let trips = try context.fetch(FetchDescriptor(predicate: predicate && isPlanned))
    /// ```
    ///
    /// Arguments never become part of the text: their contents do not change the meaning of the format. The grammar is
    /// checked immediately; names and types are checked against the schema of the container when the predicate is used.
    ///
    /// - Parameters:
    ///   - format: The text; the article "Predicates as text" of the `ObjectGraph` library describes the syntax.
    ///   - arguments: The values for `%@` and the other specifiers, in their order: nil, values of properties, models
    ///     and identifiers, collections of these, and ranges. The argument of `%K` is the name of a property, or a key
    ///     path, as text.
    ///   - variables: The values of variables such as `$LIMIT`.
    /// - Throws: `PredicateFormatError` with the position of the error, here and when the predicate is used.
    public static func predicate(
        format: String,
        arguments: [Any?] = [],
        variables: [String: Any?] = [:]
    ) throws(PredicateFormatError) -> Predicate<Self> {
        let parsed = try PredicateFormat(format)
        let arguments = arguments.map { PredicateArgument($0) }
        let variables = variables.mapValues { PredicateArgument($0) }
        return Predicate<Self> { model in
            PredicateExpressions.FormattedCondition(parsed, model, arguments, variables)
        }
    }
}

extension PredicateExpressions {
    /// A condition in text form, see ``PersistentModel/predicate(format:arguments:variables:)``.
    public struct FormattedCondition<Model: PersistentModel>: StandardPredicateExpression {
        let format: PredicateFormat
        let model: Variable<Model>
        let arguments: [PredicateArgument]
        let variables: [String: PredicateArgument]

        init(
            _ format: PredicateFormat,
            _ model: Variable<Model>,
            _ arguments: [PredicateArgument],
            _ variables: [String: PredicateArgument]
        ) {
            self.format = format
            self.model = model
            self.arguments = arguments
            self.variables = variables
        }

        /// Returns the value for the model of the bindings.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            let model = try model.evaluate(bindings)
            return try condition(on: FormatSubject(model.managedObjectID.entity)).isTrue(for: model)
        }

        func condition(on subject: FormatSubject) throws(PredicateFormatError) -> QueryExpression {
            try format.condition(on: subject, arguments: arguments, variables: variables)
        }

        /// Always throws: Foundation decodes predicates on Apple's platforms only.
        public init(from decoder: any Decoder) throws {
            throw UnsupportedPredicate("the decoding of a predicate that was written as text")
        }

        /// Always throws: Foundation encodes predicates on Apple's platforms only.
        public func encode(to encoder: any Encoder) throws {
            throw UnsupportedPredicate("the encoding of a predicate that was written as text")
        }
    }
}

extension PredicateExpressions.FormattedCondition: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard case .object(let object) = try context.read(model) else {
            throw UnsupportedPredicate("a predicate in text form on a value that is no model")
        }
        let subject = FormatSubject(
            object.entity,
            variable: object.variable,
            path: object.path,
            depth: context.depth
        )
        let condition = try condition(on: subject)
        return .value(.conjunction([object.requirement, condition].compactMap(\.self)))
    }
}
