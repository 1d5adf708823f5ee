import Foundation

@testable import SealedData

/// An expression that is typed by its values only, so that trees of any form can be composed at run time.
///
/// `@unchecked Sendable`: expressions are Sendable.
struct ErasedExpression<Output>: StandardPredicateExpression, ReadableExpression, @unchecked Sendable {
    private let base: any PredicateExpression<Output>

    init(_ base: any PredicateExpression<Output>) {
        self.base = base
    }

    func evaluate(_ bindings: PredicateBindings) throws -> Output { try base.evaluate(bindings) }

    func read(in context: ReadingContext) throws -> Reading { try context.read(base) }

    init(from decoder: any Decoder) throws { throw CocoaError(.coderInvalidValue) }
    func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
}
