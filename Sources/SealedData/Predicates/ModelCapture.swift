public import Foundation
import ObjectGraph

// A predicate consists of nodes that are `Codable` and `Sendable`, and so do the values that it captures. Models are
// neither. The initializers below accept nodes of any kind and put them into one that declares both.
//
// An overload of `build_Arg` for models would do the same where a model is captured. It would also be a further choice at
// every captured value and literal of every predicate, and the type checker tries the combinations: predicates of four
// terms took it seconds, and longer ones it refused. These initializers are one further choice for a whole predicate, and
// the type checker makes it only after Foundation's own initializer did not fit.

extension Predicate {
    /// Makes a predicate that captures models.
    ///
    /// `#Predicate` calls this initializer for a predicate with a captured model, an optional one, or a collection of them:
    ///
    /// ```swift
    /// #Predicate<Trip> { $0.guide == someone }
    /// ```
    ///
    /// The values of other classes have to be `Codable`. If one is not, a fetch with the predicate throws
    /// ``SwiftDataError/unsupportedPredicate``: capture the members that the predicate needs.
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
    /// Makes an expression that captures models, as the initializer of `Predicate` makes a predicate.
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
    public struct ModelCapture<Root: PredicateExpression>: StandardPredicateExpression, @unchecked Sendable {
        // Sound because the nodes are immutable, and reading them does not touch the state of the models: a model stands
        // for its identifier. Only the context of the models evaluates the predicate in memory.
        let root: Root

        init(_ root: Root) {
            self.root = root
        }

        /// The value for the inputs that the bindings name.
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

/// Whether a predicate can capture values of a type. The state of an object that is neither `Codable` nor a model may
/// change at any time, on any thread.
func isCapturable<T>(_ type: T.Type) -> Bool {
    guard type is AnyClass else { return true }
    return type is any (Decodable & Encodable).Type || type is any GraphObject.Type
}
