import ObjectGraph
import Testing

/// Members that two contexts move to different owners.
@Suite struct MovedMemberTests {
    private static let policies: [MergePolicy] = [
        .rollback, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
    ]

    /// | a                               | b                                     |
    /// |---------------------------------|---------------------------------------|
    /// | reads the members of all owners |                                       |
    /// |                                 | moves the member to the second owner  |
    /// | moves it to the target          |                                       |
    /// |                                 | saves                                 |
    /// | saves                           |                                       |
    @Test(arguments: StoreKind.allCases, policies)
    func `the loaded members of all owners are those of the store after the conflict`(
        kind: StoreKind,
        policy: MergePolicy
    ) throws {
        for (owner, member, members, reference) in [
            ("Book", "Chapter", "chapters", "book"), ("Author", "Book", "books", "author"),
        ] {
            for target in [1, 2] {
                let store = try TestStore(kind)
                let a = store.context()
                let owners = ["first", "second", "third"].map { a.make(owner, ["name": .text($0)]) }
                owners[0][many: members] = ["x", "y", "z"].map { a.make(member, ["name": .text($0)]) }
                try a.save()
                let moved = owners[0][many: members][1]
                for owner in owners { #expect(owner[many: members].count >= 0) }
                let b = store.context()
                (a.mergePolicy, b.mergePolicy) = (policy, policy)
                let theirs = try #require(try b.existingObject(with: moved.managedObjectID) as? ManagedObject)
                theirs[one: reference] = try b.existingObject(with: owners[1].managedObjectID) as? ManagedObject
                moved[one: reference] = owners[target]
                try b.save()
                try a.save()
                let expected = policy == .rollback || policy == .mergeByPropertyStoreTrump ? 1 : target
                #expect(moved[one: reference] === owners[expected])
                // Another save keeps the members as they are.
                owners[0][many: members].append(a.make(member, ["name": "new"]))
                try a.save()
                let fresh = store.context()
                for owner in owners {
                    let stored = try #require(
                        try fresh.existingObject(with: owner.managedObjectID) as? ManagedObject
                    )
                    #expect(owner[many: members].texts("name") == stored[many: members].texts("name"))
                }
                #expect(owners[0][many: members].texts("name") == ["x", "z", "new"])
                #expect(owners[expected][many: members].texts("name") == ["y"])
            }
        }
    }
}
