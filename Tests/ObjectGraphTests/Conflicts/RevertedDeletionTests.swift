import ObjectGraph
import Testing

/// Deletions that a merge policy reverts.
@Suite struct RevertedDeletionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: StoreKind
        let isOrdered: Bool
        /// Whether the context merges the move of the member before its save.
        let merges: Bool
        let isOtherContainer: Bool

        static let all = StoreKind.allCases.flatMap { kind in
            [true, false].flatMap { isOrdered in
                [true, false].flatMap { merges in
                    [true, false].map {
                        Case(kind: kind, isOrdered: isOrdered, merges: merges, isOtherContainer: $0)
                    }
                }
            }
        }

        var testDescription: String {
            "\(kind), ordered \(isOrdered), merges \(merges), other container \(isOtherContainer)"
        }
    }

    // context                          other context
    // reads the members of all owners
    // deletes the member, or does it later
    //                                  moves it to the second owner, saves
    // merges the move, or does not
    // saves: the deletion is reverted
    @Test(arguments: Case.all, [MergePolicy.rollback, .mergeByPropertyStoreTrump])
    func `the member is in the list of its new owner only`(scene: Case, policy: MergePolicy) throws {
        let (owner, member, members, reference) =
            scene.isOrdered ? ("Book", "Chapter", "chapters", "book") : ("Author", "Book", "books", "author")
        let store = try TestStore(scene.kind)
        let context = store.context()
        context.mergePolicy = policy
        let owners = ["first", "second"].map { context.make(owner, ["name": .text($0)]) }
        for (owner, names) in zip(owners, [["w", "x"], ["y"]]) {
            owner[many: members] = names.map { context.make(member, ["name": .text($0)]) }
        }
        try context.save()
        let moved = owners[0][many: members][0]
        let other =
            scene.isOtherContainer
            ? ManagedObjectContext(coordinator: try store.anotherCoordinator()) : store.context()
        if !scene.merges { context.delete(moved) }
        try other.counterpart(of: moved)[one: reference] = other.counterpart(of: owners[1])
        if scene.merges { context.delete(moved) }
        try other.save()
        if scene.merges { context.processPendingChanges() }
        try context.save()
        let fresh = store.context()
        for owner in owners {
            let stored = try fresh.counterpart(of: owner)[many: members].texts("name")
            #expect(owner[many: members].texts("name") == stored)
        }
        #expect(owners[0][many: members].texts("name") == ["x"])
        #expect(owners[1][many: members].names == ["w", "y"])
        #expect(moved[one: reference] === owners[1])
        #expect(try store.problems() == [])
    }
}
