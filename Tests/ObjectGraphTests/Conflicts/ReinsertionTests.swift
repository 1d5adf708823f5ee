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
