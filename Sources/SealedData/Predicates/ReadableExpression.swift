import Foundation

/// A node of a predicate that can be translated.
protocol ReadableExpression {
    /// Returns the reading of the node.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    func read(in context: ReadingContext) throws -> Reading
}
