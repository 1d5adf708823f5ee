@testable import ObjectGraph
import Testing

/// Live results with a list that is kept by applying their updates.
final class FollowedResults {
    let results: LiveResults
    private let context: ManagedObjectContext
    /// The objects, by applying each update to the previous list.
    private(set) var applied: [ManagedObject] = []
    private(set) var updates: [LiveResults.Update] = []
    /// Called after each update.
    var onUpdate: (() -> Void)?

    init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
        self.context = context
        results = LiveResults(
            LiveResults.Query(request) { try context.fetch(request, as: ManagedObject.self) },
            in: context
        )
        results.reportsModifications = true
        applied = objects
        results.onUpdate = { [unowned self] update in
            applied = update.changes.applied(to: applied) { objects[$0] }
            updates.append(update)
            onUpdate?()
        }
    }

    /// Replaces the query.
    func setRequest(_ request: FetchRequest, in context: ManagedObjectContext) {
        results.setQuery(LiveResults.Query(request) { try context.fetch(request, as: ManagedObject.self) })
    }

    /// The objects of the results.
    var objects: [ManagedObject] {
        (0..<results.entries.count).compactMap { results.entries[$0].object as? ManagedObject }
    }

    /// Expects that the results equal those of a fetch, and the list of the updates.
    func expectCurrent(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let fetched = try context.fetch(results.query.request, as: ManagedObject.self)
        #expect(objects === fetched, comment, sourceLocation: sourceLocation)
        #expect(applied === fetched, comment, sourceLocation: sourceLocation)
        for (position, object) in fetched.enumerated() {
            #expect(results.position(of: object) == position, comment, sourceLocation: sourceLocation)
        }
        #expect(results.error == nil, comment, sourceLocation: sourceLocation)
    }
}
