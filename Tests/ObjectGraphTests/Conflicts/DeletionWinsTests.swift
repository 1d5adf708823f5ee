import ObjectGraph
import Testing

@Suite("Changed objects that another context deleted") struct DeletionWinsTests {
    /// Whether and when the context merges the changes saved by other contexts.
    enum Fetch: CaseIterable { case never, beforeChange, afterChange }

    /// The context and the request that delete the object.
    enum Deletion: CaseIterable { case context, batchRequest, otherContainer, batchRequestOfOtherContainer }

    struct Case: Sendable, CustomTestStringConvertible {
        let kind: StoreKind
        let fetch: Fetch
        let deletion: Deletion

        static let all = StoreKind.allCases.flatMap { kind in
            Fetch.allCases.flatMap { fetch in
                Deletion.allCases.map { Case(kind: kind, fetch: fetch, deletion: $0) }
            }
        }

        var testDescription: String { "\(kind), fetches \(fetch), deleted by \(deletion)" }
    }

    // context                    other context
    // reads the author
    //                            deletes the author and saves
    // fetches, or does not
    // changes the author
    // fetches, or does not
    // saves
    private func change(_ scene: Case, _ policy: MergePolicy) throws -> (TestStore, ManagedObjectContext, ManagedObject)
    {
        let store = try TestStore(scene.kind)
        let maker = store.context()
        maker.make("Author", ["name": "old", "born": 1])
        try maker.save()
        let context = store.context()
        context.mergePolicy = policy
        let own = try context.one("Author")
        let isOther = scene.deletion == .otherContainer || scene.deletion == .batchRequestOfOtherContainer
        let other = isOther ? ManagedObjectContext(coordinator: try store.anotherCoordinator()) : store.context()
        switch scene.deletion {
        case .context, .otherContainer:
            other.delete(try other.one("Author"))
            try other.save()
        case .batchRequest, .batchRequestOfOtherContainer:
            try other.execute(BatchDeleteRequest(store.model.entitiesByName["Author"]!))
        }
        if scene.fetch == .beforeChange { _ = try context.all("Author") }
        own["name"] = "mine"
        if scene.fetch == .afterChange { _ = try context.all("Author") }
        if isOther { try other.coordinator.removeAllStores() }
        return (store, context, own)
    }

    @Test(
        arguments: Case.all,
        [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback]
    )
    func `the deletion wins`(scene: Case, policy: MergePolicy) throws {
        let (store, context, own) = try change(scene, policy)
        try context.save()
        #expect(try store.context().all("Author").isEmpty)
        #expect(own.isObjectDeleted)
        #expect(own["born"] == 1)
        #expect(!context.hasChanges)
        #expect(try store.problems().isEmpty)
    }

    @Test(arguments: Case.all)
    func `the overwrite policy inserts the object again`(scene: Case) throws {
        let (store, context, own) = try change(scene, .overwrite)
        try context.save()
        let saved = try store.context().one("Author")
        #expect(saved.managedObjectID == own.managedObjectID)
        #expect(saved["name"] == "mine")
        #expect(saved["born"] == 1)
        #expect(!own.isObjectDeleted)
        own["born"] = 2
        try context.save()
        #expect(try store.context().one("Author")["born"] == 2)
        #expect(try store.problems().isEmpty)
    }

    @Test(arguments: Case.all)
    func `the save throws without a policy, until it is rolled back`(scene: Case) throws {
        let (store, context, own) = try change(scene, .error)
        for _ in 0..<2 {
            let error = #expect(throws: ObjectGraphError.self) { try context.save() }
            guard case .conflicts(let conflicts)? = error else {
                Issue.record("the error is \(String(describing: error))"); return
            }
            #expect(conflicts.map(\.objectID) == [own.managedObjectID])
        }
        context.rollback()
        try context.save()
        #expect(own.isObjectDeleted)
        #expect(own["name"] == "old")
        #expect(try store.context().all("Author").isEmpty)
    }
}
