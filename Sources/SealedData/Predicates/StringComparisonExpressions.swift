// Foundation has these nodes on Apple's platforms only, although the macro accepts the functions everywhere.
#if !canImport(Darwin)
    public import Foundation

    extension PredicateExpressions {
        /// `localizedStandardContains` in a predicate.
        public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
            PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            /// The type of the value.
            public typealias Output = Bool

            /// The searched text.
            public let root: Root
            /// The text to find.
            public let other: Other

            /// Creates a node.
            public init(root: Root, other: Other) {
                self.root = root
                self.other = other
            }

            /// Returns the value for the inputs of the bindings.
            public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
                try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
            }
        }

        /// `caseInsensitiveCompare` in a predicate.
        public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
            PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            /// The type of the value.
            public typealias Output = ComparisonResult

            /// The left text.
            public let root: Root
            /// The right text.
            public let other: Other

            /// Creates a node.
            public init(root: Root, other: Other) {
                self.root = root
                self.other = other
            }

            /// Returns the value for the inputs of the bindings.
            public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
                try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
            }
        }

        /// `localizedCompare` in a predicate.
        public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>:
            PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            /// The type of the value.
            public typealias Output = ComparisonResult

            /// The left text.
            public let root: Root
            /// The right text.
            public let other: Other

            /// Creates a node.
            public init(root: Root, other: Other) {
                self.root = root
                self.other = other
            }

            /// Returns the value for the inputs of the bindings.
            public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
                try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
            }
        }

        /// Builds the node of `localizedStandardContains`.
        public static func build_localizedStandardContains<Root, Other>(
            _ root: Root,
            _ other: Other
        ) -> StringLocalizedStandardContains<Root, Other> {
            StringLocalizedStandardContains(root: root, other: other)
        }

        /// Builds the node of `caseInsensitiveCompare`.
        public static func build_caseInsensitiveCompare<Root, Other>(
            _ root: Root,
            _ other: Other
        ) -> StringCaseInsensitiveCompare<Root, Other> {
            StringCaseInsensitiveCompare(root: root, other: other)
        }

        /// Builds the node of `localizedCompare`.
        public static func build_localizedCompare<Root, Other>(
            _ root: Root,
            _ other: Other
        ) -> StringLocalizedCompare<Root, Other> {
            StringLocalizedCompare(root: root, other: other)
        }
    }

    extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
    extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
    extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

    extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
    extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
    extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

    extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
    extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
    extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif
