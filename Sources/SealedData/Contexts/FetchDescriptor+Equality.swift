import Foundation
import ObjectGraph

extension FetchDescriptor: Equatable {
    /// Whether both ask for the same: predicates count by what they mean.
    public static func == (left: FetchDescriptor, right: FetchDescriptor) -> Bool {
        left.fetchLimit == right.fetchLimit && left.fetchOffset == right.fetchOffset
            && left.includePendingChanges == right.includePendingChanges && left.sortBy == right.sortBy
            && left.search == right.search
            && left.allowsInMemoryEvaluation == right.allowsInMemoryEvaluation
            && left.propertiesToFetch == right.propertiesToFetch
            && left.relationshipKeyPathsForPrefetching == right.relationshipKeyPathsForPrefetching
            && left.meaning == right.meaning && left.computedOrder == right.computedOrder
    }

    /// What the computed values to sort by are in a store; nil where they have no form there, or there are none.
    private var computedOrder: [QuerySort]? {
        guard !sortExpressions.isEmpty else { return nil }
        let reader = PredicateReader(model: DetachedEntities.model(for: T.self))
        return try? sortExpressions.map {
            try QuerySort($0, reader, entity: DetachedEntities.entity(for: T.self))
        }
    }

    /// What the predicate means: its form in a store, or where it has none, its text.
    private var meaning: PredicateMeaning? {
        guard let predicate else { return nil }
        let reader = PredicateReader(model: DetachedEntities.model(for: T.self))
        if let condition = try? reader.read(predicate, entity: DetachedEntities.entity(for: T.self)) {
            return .condition(condition)
        }
        // Not the text of the predicate itself: Foundation ends the program rather than print nodes that are not its own.
        return .text("\(predicate.expression)")
    }
}

private enum PredicateMeaning: Equatable {
    case condition(QueryExpression)
    case text(String)
}
