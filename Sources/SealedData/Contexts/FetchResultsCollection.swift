import ObjectGraph

/// The results of a fetch in batches: models that are read, a batch at a time, when they are reached.
///
/// The collection keeps a few batches; a model that somebody refers to stays the one it is.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private let source: any FetchResultsSource

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position behind the last element.
    public var endIndex: Int { source.count }

    /// The element at a position.
    ///
    /// - Complexity: O(1); a statement where the element's batch is not in memory.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < source.count, "there is no result at this position")
        guard let element = source.element(at: position) as? Element else {
            preconditionFailure("a source has elements of its collection's type")
        }
        return element
    }

    /// A collection of what is known already.
    init(_ elements: [Element]) {
        source = KnownElements(elements: elements)
    }

    /// A collection of models by their identifiers.
    init(_ ids: [ManagedObjectID], batchSize: Int, in context: ModelContext) where Element: PersistentModel {
        source = Batches<Element>(ids, batchSize: batchSize, in: context)
    }

    private struct KnownElements: FetchResultsSource {
        let elements: [Element]

        var count: Int { elements.count }

        func element(at index: Int) -> Element { elements[index] }
    }

    private final class Batches<Model: PersistentModel>: FetchResultsSource {
        /// How many batches stay in memory.
        private static var limit: Int { 4 }

        private let ids: [ManagedObjectID]
        private let batchSize: Int
        private let context: ModelContext
        /// The batches that were used last, the very last one first.
        private var batches: [(start: Int, models: [any GraphObject])] = []

        init(_ ids: [ManagedObjectID], batchSize: Int, in context: ModelContext) {
            self.ids = ids
            self.batchSize = batchSize
            self.context = context
        }

        var count: Int { ids.count }

        func element(at index: Int) -> Model {
            let start = index - index % batchSize
            let batch: (start: Int, models: [any GraphObject])
            if let position = batches.firstIndex(where: { $0.start == start }) {
                batch = batches.remove(at: position)
            } else {
                let models = context.graph.objects(with: ids[start..<Swift.min(start + batchSize, ids.count)])
                batch = (start, models)
                if batches.count == Self.limit { batches.removeLast() }
            }
            batches.insert(batch, at: 0)
            return batch.models[index - start] as? Model ?? Model._$placeholder(slotCount: Model._$slotCount)
        }
    }
}

/// What knows the elements of a collection of results.
private protocol FetchResultsSource {
    associatedtype Element
    var count: Int { get }
    func element(at index: Int) -> Element
}
