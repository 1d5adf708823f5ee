public import Foundation

// Predicates composed at run time are like other predicates: stores and `evaluate` accept them.

extension Predicate {
    /// Returns a predicate that is true if both predicates are.
    ///
    /// ```swift
    /// let isOld = #Predicate<Person> { $0.age > 60 }
    /// let isActive = #Predicate<Person> { $0.isActive }
    /// let both = isOld && isActive
    /// ```
    public static func && (left: Self, right: Self) -> Self { combination(of: [left, right], .all) }

    /// Returns a predicate that is true if one of the predicates is.
    public static func || (left: Self, right: Self) -> Self { combination(of: [left, right], .any) }

    /// Returns a predicate that is true if the predicate is false.
    public static prefix func ! (predicate: Self) -> Self { combination(of: [predicate], .none) }

    /// Returns a predicate that is true if all predicates are; true for an empty list.
    public static func all(_ predicates: [Self]) -> Self { combination(of: predicates, .all) }

    /// Returns a predicate that is true if one of the predicates is; false for an empty list.
    public static func any(_ predicates: [Self]) -> Self { combination(of: predicates, .any) }

    private static func combination(
        of predicates: [Self],
        _ rule: CombinationRule
    ) -> Self {
        Self { (input: repeat PredicateExpressions.Variable<each Input>) in
            PredicateExpressions.Combination(predicates, rule, (repeat each input))
        }
    }
}

/// The number of predicates that must be true.
enum CombinationRule: Sendable {
    case all, any, none
}

extension PredicateExpressions {
    /// Several predicates on the same inputs, combined into one.
    public struct Combination<each Input>: StandardPredicateExpression {
        let predicates: [Predicate<repeat each Input>]
        let rule: CombinationRule
        let inputs: (repeat Variable<each Input>)

        init(
            _ predicates: [Predicate<repeat each Input>],
            _ rule: CombinationRule,
            _ inputs: (repeat Variable<each Input>)
        ) {
            self.predicates = predicates
            self.rule = rule
            self.inputs = inputs
        }

        /// Returns the value for the inputs of the bindings.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            for predicate in predicates {
                let isTrue = try predicate.evaluate(repeat (each inputs).evaluate(bindings))
                if isTrue != (rule == .all) { return rule == .any }
            }
            return rule != .any
        }

        /// Always throws: Foundation decodes predicates on Apple's platforms only.
        public init(from decoder: any Decoder) throws {
            throw UnsupportedPredicate("the decoding of a combined predicate")
        }

        /// Always throws: Foundation encodes predicates on Apple's platforms only.
        public func encode(to encoder: any Encoder) throws {
            throw UnsupportedPredicate("the encoding of a combined predicate")
        }
    }
}
