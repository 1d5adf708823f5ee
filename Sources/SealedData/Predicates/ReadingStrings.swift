import Foundation
import ObjectGraph

extension PredicateExpressions.CollectionContainsCollection: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard Base.Output.self == String.self, Other.Output.self == String.self else {
            throw UnsupportedPredicate("'contains' of '\(Other.Output.self)' on '\(Base.Output.self)'")
        }
        return try text(.contains, base, other, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.SequenceStartsWith: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        guard Base.Output.self == String.self, Prefix.Output.self == String.self else {
            throw UnsupportedPredicate("'starts(with:)' on '\(Base.Output.self)'")
        }
        return try text(.startsWith, base, prefix, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.StringContainsRegex: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (text, pattern) = (try context.read(subject), try context.read(regex))
        guard case .constant(let constant) = pattern,
            let regex = constant.value as? PredicateExpressions.PredicateRegex
        else { throw UnsupportedPredicate("a regular expression that is not captured") }
        let part = "a regular expression"
        // The expression's `stringRepresentation` has another meaning in some cases.
        guard let pattern = RegularExpressions.pattern(of: regex.regex) else {
            throw UnsupportedPredicate("\(part) with a part that has no form in a pattern")
        }
        return .value(.function(.containsMatch, [try text.expression(for: part), .literal(.text(pattern))]))
    }
}

extension PredicateExpressions.StringLocalizedCompare: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try text(.localizedCompare, root, other, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try text(.localizedContains, root, other, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try text(.caseInsensitiveCompare, root, other, in: context) { try context.constant(self) }
    }
}

/// Reads a function of two texts. Foundation evaluates a function of constants.
private func text(
    _ function: QueryExpression.Function,
    _ text: some PredicateExpression,
    _ other: some PredicateExpression,
    in context: ReadingContext,
    folding: () throws -> Reading
) throws -> Reading {
    let (text, other) = (try context.read(text), try context.read(other))
    if text.isConstant, other.isConstant { return try folding() }
    let part = "'\(function.rawValue)'"
    return .value(.function(function, [try text.expression(for: part), try other.expression(for: part)]))
}
