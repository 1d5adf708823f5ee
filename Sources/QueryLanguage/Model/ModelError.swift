/// What is wrong with the declarations of a model: every problem at once.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One problem.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The name of the entity.
        public let entity: String
        /// The name of the property, where the problem lies with one.
        public let property: String?
        /// What is wrong.
        public let text: String

        /// Makes a problem.
        public init(entity: String, property: String?, text: String) {
            self.entity = entity
            self.property = property
            self.text = text
        }

        /// Place and problem.
        public var description: String {
            property.map { "\(entity).\($0): \(text)" } ?? "\(entity): \(text)"
        }
    }

    /// The problems, in the order of the declarations.
    public let problems: [Problem]

    /// Makes an error.
    public init(problems: [Problem]) {
        self.problems = problems
    }

    /// All problems, one a line.
    public var description: String {
        (["the model has \(problems.count) problem(s):"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
