import Foundation
import ObjectGraph

extension FetchDescriptor {
    /// Whether both describe the same fetch. Predicates are compared by meaning.
    public static func == (left: FetchDescriptor, right: FetchDescriptor) -> Bool {
        left.fetchLimit == right.fetchLimit && left.fetchOffset == right.fetchOffset
            && left.includePendingChanges == right.includePendingChanges && left.sortBy == right.sortBy
            && left.search == right.search
            && left.allowsInMemoryEvaluation == right.allowsInMemoryEvaluation
            && left.propertiesToFetch == right.propertiesToFetch
            && left.relationshipKeyPathsForPrefetching == right.relationshipKeyPathsForPrefetching
            && left.meaning == right.meaning && left.computedOrder == right.computedOrder
    }

    /// The computed sort keys as query expressions; nil if the descriptor has none, or a store cannot compute them.
    private var computedOrder: [QuerySort]? {
        guard !sortExpressions.isEmpty else { return nil }
        let reader = PredicateReader(model: DetachedEntities.model(for: T.self))
        return try? sortExpressions.map {
            try QuerySort($0, reader, entity: DetachedEntities.entity(for: T.self))
        }
    }

    /// The meaning of the predicate: its query expression or, if it cannot be translated, its text.
    private var meaning: PredicateMeaning? {
        guard let predicate else { return nil }
        let reader = PredicateReader(model: DetachedEntities.model(for: T.self))
        if let condition = try? reader.read(predicate, entity: DetachedEntities.entity(for: T.self)) {
            return .condition(condition)
        }
        // Printing the predicate itself traps: Foundation prints only its own expression types.
        return .text("\(predicate.expression)")
    }
}

private enum PredicateMeaning: Equatable {
    case condition(QueryExpression)
    case text(String)
}
