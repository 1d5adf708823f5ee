import Foundation

extension ModelContext {
    /// Returns the models that match a descriptor, evaluated by Foundation; nil if the store can evaluate the
    /// descriptor, or the descriptor does not allow evaluation in memory.
    ///
    /// - Throws: errors of the predicate and of the store.
    @usableFromInline
    func evaluatedInMemory<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T]? {
        guard descriptor.allowsInMemoryEvaluation else { return nil }
        do {
            _ = try request(for: descriptor)
            return nil
        } catch let error as SwiftDataError
            where error == .unsupportedPredicate || error == .unsupportedSortDescriptor
        {
            let models = try results(of: descriptor)
            // A predicate reads unreadable properties as empty values; the failures must not pass unreported.
            try graph.reportReadFailures()
            return models
        }
    }

    private func results<T: PersistentModel>(of descriptor: FetchDescriptor<T>) throws -> [T] {
        var everything = descriptor
        everything.predicate = nil
        everything.fetchLimit = nil
        everything.fetchOffset = nil
        var models: [T]
        do {
            models = try graph.fetch(request(for: everything), as: T.self)
        } catch let error as SwiftDataError
            where error == .unsupportedSortDescriptor && descriptor.sortExpressions.isEmpty
        {
            everything.sortBy = []
            models = Self.sorted(try graph.fetch(request(for: everything), as: T.self), by: descriptor.sortBy)
        }
        if let predicate = descriptor.predicate { models = try models.filter { try predicate.evaluate($0) } }
        let rest = models.dropFirst(max(descriptor.fetchOffset ?? 0, 0))
        return Array(rest.prefix(max(descriptor.fetchLimit ?? .max, 0)))
    }

    /// Sorts stably, which Foundation does not guarantee.
    private static func sorted<T>(_ models: [T], by sorts: [SortDescriptor<T>]) -> [T] {
        models.enumerated().sorted { left, right in
            for sort in sorts {
                let order = sort.compare(left.element, right.element)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return left.offset < right.offset
        }
        .map(\.element)
    }
}
