import Foundation

/// A node of a predicate's tree that can be read.
protocol ReadableExpression {
    /// What the node stands for.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    func read(in context: ReadingContext) throws -> Reading
}
