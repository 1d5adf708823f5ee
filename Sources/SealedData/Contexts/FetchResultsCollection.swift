import ObjectGraph

/// The results of a fetch in batches: accessing a model reads the batch that contains it.
///
/// The collection keeps a few batches. A model that is referenced elsewhere stays the same object.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private let source: any FetchResultsSource

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { source.count }

    /// The element at a position.
    ///
    /// - Complexity: O(1); one statement if the element's batch is not in memory.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < source.count, "there is no result at this position")
        guard let element = source.element(at: position) as? Element else {
            preconditionFailure("a source has elements of its collection's type")
        }
        return element
    }

    /// Makes a collection of elements that are in memory.
    init(_ elements: [Element]) {
        source = KnownElements(elements: elements)
    }

    /// Makes a collection of models that are read in batches.
    init(_ models: BatchedFetchResults<Element>, in context: ModelContext) where Element: PersistentModel {
        source = Models(models: models, context: context)
    }

    /// Makes a collection of the models of live results.
    init(_ entries: OrderedResults, in context: ModelContext) where Element: PersistentModel {
        source = LiveModels<Element>(entries: entries, context: context)
    }

    private struct LiveModels<Model: PersistentModel>: FetchResultsSource {
        let entries: OrderedResults
        /// Held because models do not retain their context.
        let context: ModelContext

        var count: Int { entries.count }

        func element(at index: Int) -> Model {
            guard let model = entries[index].object as? Model else {
                preconditionFailure("the objects of live results are of the fetched class")
            }
            return model
        }
    }

    private struct KnownElements: FetchResultsSource {
        let elements: [Element]

        var count: Int { elements.count }

        func element(at index: Int) -> Element { elements[index] }
    }

    private struct Models<Model: PersistentModel>: FetchResultsSource {
        let models: BatchedFetchResults<Model>
        /// Held because models do not retain their context.
        let context: ModelContext

        var count: Int { models.count }

        func element(at index: Int) -> Model { models[index] }
    }
}

/// The source of the elements of a results collection.
private protocol FetchResultsSource {
    associatedtype Element
    var count: Int { get }
    func element(at index: Int) -> Element
}
