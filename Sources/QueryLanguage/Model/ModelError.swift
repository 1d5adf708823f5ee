/// The problems of the declarations of a model, all at once.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One problem.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The name of the entity.
        public let entity: String
        /// The name of the property; nil for a problem of the entity.
        public let property: String?
        /// The description of the problem.
        public let text: String

        /// Creates a problem.
        public init(entity: String, property: String?, text: String) {
            self.entity = entity
            self.property = property
            self.text = text
        }

        /// The place and the problem.
        public var description: String {
            property.map { "\(entity).\($0): \(text)" } ?? "\(entity): \(text)"
        }
    }

    /// The problems, in the order of the declarations.
    public let problems: [Problem]

    /// Creates an error.
    public init(problems: [Problem]) {
        self.problems = problems
    }

    /// All problems, one per line.
    public var description: String {
        (["the model has \(problems.count) problem(s):"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
