import ObjectGraph
import Testing

@Suite("Reinsertion of an object that another context deleted") struct ReinsertionTests {
    @Test(arguments: StoreKind.allCases, [true, false])
    func `it has no relationships with objects that were deleted with it`(kind: StoreKind, isKnown: Bool) throws {
        let store = try TestStore(kind, Self.model)
        let first = store.context()
        let owner = first.make("Owner", ["name": "o"])
        let item = first.make("Item", ["name": "i"])
        item[one: "owner"] = owner
        try first.save()

        let second = store.context()
        second.mergePolicy = .overwrite
        let counterpart = try second.counterpart(of: item)
        let kept = isKnown ? counterpart[one: "owner"] : nil
        counterpart["name"] = "changed"
        first.delete(owner)
        try first.save()
        try second.save()
        #expect(kept?.isObjectDeleted ?? true)

        let third = store.context()
        #expect(try third.one("Item")["name"] == "changed")
        #expect(try third.one("Item")[one: "owner"] == nil)
        let isFree = QueryExpression.comparison(
            .equal,
            Self.model.path("Item", "owner"),
            .literal(.null)
        )
        #expect(try third.count(third.request("Item", where: isFree)) == 1)
    }

    /// An object that calls `willInsert` once when it is validated for its insertion.
    final class Witness: ManagedObject {
        var willInsert: (() throws -> Void)?

        override func validateForInsert() throws {
            let action = willInsert
            willInsert = nil
            try action?()
        }
    }

    // first      second                              third
    // deletes
    //            saves: the object is missing
    //                                                saves: the object is missing, inserts it again
    //            inserts it again: it is there
    //            updates it
    @Test func `two contexts insert it again at the same time`() throws {
        let store = try TestStore(.sealed, Self.model, classes: ["Owner": Witness.self])
        let first = store.context()
        let owner = Witness(entity: Self.model.entitiesByName["Owner"]!, insertInto: first)
        try first.save()
        let (second, third) = (store.context(), store.context())
        for (context, name) in [(second, "second"), (third, "third")] {
            context.mergePolicy = .overwrite
            try context.counterpart(of: owner)["name"] = .text(name)
        }
        first.delete(owner)
        try first.save()
        var hasThirdSaved = false
        let witness = try #require(try second.counterpart(of: owner) as? Witness)
        witness.willInsert = {
            try third.save()
            hasThirdSaved = true
        }
        try second.save()
        #expect(hasThirdSaved)
        #expect(try store.context().one("Owner")["name"] == "second")
        #expect(!second.hasChanges && !third.hasChanges)
    }

    // first                    second
    // reads, changes
    //                          changes, saves, deletes, saves
    // saves: inserts it again
    //                          reads it again
    @Test func `its row has a version that the deleted row did not have`() throws {
        let store = try TestStore(.sealed, Self.model)
        let first = store.context()
        first.mergePolicy = .overwrite
        let owner = first.make("Owner", ["name": "1"])
        try first.save()
        let second = store.context()
        let counterpart = try second.counterpart(of: owner)
        owner["name"] = "first"
        counterpart["name"] = "second"
        try second.save()
        second.delete(counterpart)
        try second.save()
        try first.save()
        #expect(try second.one("Owner")["name"] == "first")
        #expect(!counterpart.isObjectDeleted)
    }

    // first          second
    //                changes old, whose next node is middle
    // deletes old
    //                makes middle the next node of new
    //                saves: inserts old again
    @Test(arguments: StoreKind.allCases)
    func `it does not take a partner that its context has given to another object`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let first = store.context()
        let middle = first.make("Node", ["name": "middle"])
        let old = first.make("Node", ["name": "old"])
        old[one: "next"] = middle
        try first.save()
        let second = store.context()
        second.mergePolicy = .overwrite
        let ownMiddle = try second.counterpart(of: middle)
        let ownOld = try second.counterpart(of: old)
        #expect(ownOld[one: "next"] === ownMiddle)
        ownOld["name"] = "changed"
        middle[one: "previous"] = nil
        first.delete(old)
        try first.save()
        second.processPendingChanges()
        let new = second.make("Node", ["name": "new"])
        new[one: "next"] = ownMiddle
        try second.save()
        for context in [second, store.context()] {
            let nodes = try context.all("Node").sorted { $0.text("name") < $1.text("name") }
            #expect(nodes.texts("name") == ["changed", "middle", "new"])
            #expect(nodes.map { $0[one: "next"]?.text("name") } == [nil, nil, "middle"])
            #expect(nodes.map { $0[one: "previous"]?.text("name") } == [nil, "new", nil])
        }
        #expect(try store.problems() == [])
    }

    // first              second
    //                    reads the owner's items, changes the item
    // deletes the item
    //                    merges, may read the items again
    //                    saves: inserts the item again
    @Test(arguments: StoreKind.allCases, [("Chapter", true), ("Chapter", false), ("Book", true), ("Book", false)])
    func `it is a member of its owner in all contexts`(
        kind: StoreKind,
        scene: (entity: String, readsAgain: Bool)
    ) throws {
        let (entity, readsAgain) = scene
        let (owner, members) = entity == "Chapter" ? ("Book", "chapters") : ("Author", "books")
        let store = try TestStore(kind)
        let first = store.context()
        let tag = first.make("Tag", ["name": "tag"])
        first.make(owner, ["name": "owner"])[many: members] = ["x", "y"].map { first.make(entity, ["name": .text($0)]) }
        if entity == "Book" { tag[many: "books"] = try first.all("Book") }
        try first.save()
        let second = store.context()
        second.mergePolicy = .overwrite
        let own = try second.one(owner, where: second.model.path(owner, "name") == "owner")
        let item = own[many: members][0]
        if entity == "Book" { #expect(item[many: "tags"].count == 1) }
        item["name"] = "z"
        first.delete(try first.counterpart(of: item))
        try first.save()
        second.processPendingChanges()
        if readsAgain { #expect(own[many: members].count >= 0) }
        try second.save()
        first.processPendingChanges()
        let fresh = store.context()
        let expected = try fresh.counterpart(of: own)[many: members].texts("name")
        #expect(Set(expected) == ["y", "z"])
        for context in [first, second] {
            #expect(try context.counterpart(of: own)[many: members].texts("name") == expected)
        }
        if entity == "Book" {
            for context in [first, second, fresh] {
                #expect(try context.one("Tag")[many: "books"].names == ["y", "z"])
                #expect(try context.counterpart(of: item)[many: "tags"].names == ["tag"])
            }
        }
        #expect(try store.problems() == [])
    }

    private static let model = Fixtures.model(
        EntityDescription(
            "Owner",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("items", to: "Item", .many, inverse: "owner", deleteRule: .cascade)]
        ),
        EntityDescription(
            "Item",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("owner", to: "Owner", .one, inverse: "items")]
        )
    )
}
