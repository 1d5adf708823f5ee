/// The results of a fetch in batches, which are read when the first object of a batch is accessed. Core Data returns
/// such a collection for a request with a `fetchBatchSize`.
///
/// ```swift
/// let books = try context.fetch(request, batchSize: 100, as: ManagedObject.self)
/// print(books.count, books[40_000]["title"])
/// ```
///
/// The identifiers of the results are read when the request is executed; an object that is deleted before its batch is
/// read has no values. Memory holds a few batches, the objects that are new when the request is executed, and eight
/// bytes for each result; an object with other references keeps its identity.
public struct BatchedFetchResults<Object: GraphObject>: RandomAccessCollection {
    private let batches: Batches

    /// The position of the first object.
    public var startIndex: Int { 0 }
    /// The position after the last object.
    public var endIndex: Int { batches.keys.count }

    /// The object at a position.
    ///
    /// - Complexity: O(1); one statement if the object's batch is not in memory.
    public subscript(position: Int) -> Object {
        precondition(position >= 0 && position < endIndex, "there is no result at this position")
        return batches.object(at: position)
    }

    init(_ keys: [Int64], of request: FetchRequest, batchSize: Int, in context: ManagedObjectContext) {
        batches = Batches(keys, of: request, batchSize: batchSize, in: context)
    }

    private final class Batches {
        /// The number of batches in memory.
        private static var limit: Int { 4 }

        let keys: [Int64]
        private let request: FetchRequest
        private let batchSize: Int
        private let context: ManagedObjectContext
        /// The objects with temporary keys, which a save replaces.
        private let new: [Int64: any GraphObject]
        /// The batches, the most recently used one first.
        private var batches: [(start: Int, objects: [Object])] = []

        init(_ keys: [Int64], of request: FetchRequest, batchSize: Int, in context: ManagedObjectContext) {
            self.keys = keys
            self.request = request
            self.batchSize = batchSize
            self.context = context
            var new: [Int64: any GraphObject] = [:]
            for key in keys where key < 0 { new[key] = context.identityMap.object(forKey: key, of: request.entity) }
            self.new = new
        }

        func object(at position: Int) -> Object {
            let start = position - position % batchSize
            let batch: (start: Int, objects: [Object])
            if let known = batches.firstIndex(where: { $0.start == start }) {
                batch = batches.remove(at: known)
            } else {
                batch = (start, readBatch(from: start))
                if batches.count == Self.limit { batches.removeLast() }
            }
            batches.insert(batch, at: 0)
            return batch.objects[position - start]
        }

        private func readBatch(from start: Int) -> [Object] {
            let keys = keys[start..<Swift.min(start + batchSize, keys.count)]
            let ids = keys.filter { new[$0] == nil }.map { context.identityMap.id(entity: request.entity, key: $0) }
            var saved = context.objects(with: ids).makeIterator()
            let objects = keys.map { key in
                // The class differs only if a row of another entity has replaced the row since its key was read.
                (new[key] ?? saved.next()) as? Object ?? Object._$placeholder(slotCount: request.entity.slotCount)
            }
            // A relationship that cannot be prefetched is read at its first access.
            try? context.loader.prefetch(request.relationshipKeyPathsForPrefetching, from: objects)
            return objects
        }
    }
}

extension ManagedObjectContext {
    /// Returns the objects that match a request, in its order, read `batchSize` at a time when they are accessed, so
    /// that any number of them takes little memory.
    ///
    /// - Precondition: `batchSize` is positive, and the entity's objects are of the class.
    /// - Throws: errors of the store.
    /// - Complexity: one statement now, and one for each batch.
    public func fetch<T: GraphObject>(
        _ request: FetchRequest,
        batchSize: Int,
        as type: T.Type = T.self
    ) throws -> BatchedFetchResults<T> {
        precondition(batchSize > 0, "a batch has at least one object")
        precondition(
            coordinator.objectTypes[request.entity.index] is T.Type,
            "objects of entity '\(request.entity.name)' are not of class '\(T.self)'"
        )
        return BatchedFetchResults(try fetchIDs(request).map(\.key), of: request, batchSize: batchSize, in: self)
    }
}
