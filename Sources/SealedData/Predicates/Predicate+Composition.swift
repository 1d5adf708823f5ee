public import Foundation

// Predicates are put together at run time: the result is a predicate like any other, which stores and `evaluate` understand.

extension Predicate {
    /// A predicate that is true where both are.
    ///
    /// ```swift
    /// let isOld = #Predicate<Person> { $0.age > 60 }
    /// let isActive = #Predicate<Person> { $0.isActive }
    /// let both = isOld && isActive
    /// ```
    public static func && (left: Self, right: Self) -> Self { combination(of: [left, right], .all) }

    /// A predicate that is true where one of them is.
    public static func || (left: Self, right: Self) -> Self { combination(of: [left, right], .any) }

    /// A predicate that is true where another one is not.
    public static prefix func ! (predicate: Self) -> Self { combination(of: [predicate], .none) }

    /// A predicate that is true where all of several are; true for none.
    public static func all(_ predicates: [Self]) -> Self { combination(of: predicates, .all) }

    /// A predicate that is true where one of several is; false for none.
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

/// How many of several predicates have to be true.
enum CombinationRule: Sendable {
    case all, any, none
}

extension PredicateExpressions {
    /// Several predicates about the same inputs, as a part of another one.
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

        /// The value for the inputs that the bindings name.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            for predicate in predicates {
                let isTrue = try predicate.evaluate(repeat (each inputs).evaluate(bindings))
                if isTrue != (rule == .all) { return rule == .any }
            }
            return rule != .any
        }

        /// Always fails: Foundation's predicates can be decoded on Apple's platforms only.
        public init(from decoder: any Decoder) throws {
            throw UnsupportedPredicate("the decoding of a combined predicate")
        }

        /// Always fails: Foundation's predicates can be encoded on Apple's platforms only.
        public func encode(to encoder: any Encoder) throws {
            throw UnsupportedPredicate("the encoding of a combined predicate")
        }
    }
}
