public import Foundation
import ObjectGraph

// The nodes of a predicate and its captured values are `Codable` and `Sendable`. Models are neither. The initializers
// below accept nodes of any kind and wrap them in a node that declares both.
//
// An overload of `build_Arg` for models would also accept captured models. But it would be another candidate for each
// captured value and literal of every predicate, and the type checker tries all combinations: it needed seconds for
// predicates of four terms and refused longer predicates. These initializers are one candidate for a whole predicate,
// which the type checker tries only if Foundation's initializer does not match.

extension Predicate {
    /// Creates a predicate that captures models.
    ///
    /// `#Predicate` calls this initializer for a predicate that captures a model, an optional model, or a collection of
    /// models:
    ///
    /// ```swift
    /// #Predicate<Trip> { $0.guide == someone }
    /// ```
    ///
    /// Captured values of other classes must be `Codable`. If a captured value is not, a fetch with the predicate
    /// throws ``SwiftDataError/unsupportedPredicate``: capture the members that the predicate needs.
    @_disfavoredOverload
    public init<Condition: PredicateExpression>(
        _ builder: (repeat PredicateExpressions.Variable<each Input>) -> Condition
    ) where Condition.Output == Bool {
        self.init { (input: repeat PredicateExpressions.Variable<each Input>) in
            PredicateExpressions.ModelCapture(builder(repeat each input))
        }
    }
}

extension Expression {
    /// Creates an expression that captures models, like the initializer of `Predicate`.
    @_disfavoredOverload
    public init<Value: PredicateExpression>(
        _ builder: (repeat PredicateExpressions.Variable<each Input>) -> Value
    ) where Value.Output == Output {
        self.init { (input: repeat PredicateExpressions.Variable<each Input>) in
            PredicateExpressions.ModelCapture(builder(repeat each input))
        }
    }
}

extension PredicateExpressions {
    /// The root of a predicate or an expression that captures models.
    ///
    /// `@unchecked Sendable`: the nodes are immutable, and reading them uses only the identifiers of the models. Only
    /// the context of the models evaluates the predicate in memory.
    public struct ModelCapture<Root: PredicateExpression>: StandardPredicateExpression, @unchecked Sendable {
        let root: Root

        init(_ root: Root) {
            self.root = root
        }

        /// Returns the value for the inputs of the bindings.
        public func evaluate(_ bindings: PredicateBindings) throws -> Root.Output { try root.evaluate(bindings) }

        /// Always throws: a model cannot be encoded.
        public init(from decoder: any Decoder) throws {
            throw UnsupportedPredicate("the decoding of a model")
        }

        /// Always throws: a model cannot be encoded.
        public func encode(to encoder: any Encoder) throws {
            throw UnsupportedPredicate("the encoding of a model")
        }
    }
}

extension PredicateExpressions.ModelCapture: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading { try context.read(root) }
}

/// Returns whether a predicate can capture values of a type. The state of an object that is neither `Codable` nor a
/// model can change at any time, on any thread.
func isCapturable<T>(_ type: T.Type) -> Bool {
    guard type is AnyClass else { return true }
    return type is any (Decodable & Encodable).Type || type is any GraphObject.Type
}
