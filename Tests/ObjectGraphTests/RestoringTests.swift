import ObjectGraph
import Testing

@Suite("Reinsertion of deleted objects without the objects of the cascade") struct RestoringTests {
    /// Whether there is a save between the changes and their undo.
    enum Moment: CaseIterable { case beforeSave, afterSave }

    /// An owner shares its item with other owners, but deletes it by cascade.
    private static let model = Fixtures.model(
        EntityDescription(
            "Owner",
            relationships: [
                .init("shared", to: "Item", .many, inverse: "sharers"),
                .init("own", to: "Item", .many, inverse: "owner", deleteRule: .cascade),
                .init("also", to: "Item", .many, inverse: "alsoOwner"),
            ]
        ),
        EntityDescription(
            "Item",
            relationships: [
                .init("sharers", to: "Owner", .many, inverse: "shared", deleteRule: .deny),
                .init("owner", to: "Owner", .one, inverse: "own"),
                .init("alsoOwner", to: "Owner", .one, inverse: "also"),
            ]
        )
    )

    private static func restored(
        _ store: TestStore
    ) throws -> (ManagedObjectContext, owner: ManagedObject, item: ManagedObject) {
        let context = store.context()
        let (owner, item) = (context.make("Owner"), context.make("Item"))
        for name in ["shared", "own", "also"] { owner[many: name] = [item] }
        try context.save()
        context.delete(owner)
        #expect(item.isObjectDeleted)
        context.insert(owner)
        return (context, owner, item)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects deleted by the cascade still apply the rule deny`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let (context, owner, item) = try Self.restored(store)
        #expect(item.isObjectDeleted)
        #expect(owner[many: "shared"].isEmpty)
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(problems.map(\.property) == ["sharers"])
    }

    @Test(arguments: StoreKind.allCases)
    func `reinserting the objects of the cascade restores their relationships`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let (context, owner, item) = try Self.restored(store)
        context.insert(item)
        try context.save()
        for context in [context, store.context()] {
            let (owner, item) = (try context.counterpart(of: owner), try context.counterpart(of: item))
            for name in ["shared", "own", "also"] { #expect(owner[many: name] === [item], "\(name)") }
            #expect(item[many: "sharers"] === [owner])
            for name in ["owner", "alsoOwner"] { #expect(item[one: name] === owner, "\(name)") }
        }
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `an undo restores the objects of the cascade in their order`(kind: StoreKind, moment: Moment) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book", ["name": "book"])
        book[many: "chapters"] = ["2", "1", "3"].map { context.make("Chapter", ["name": .text($0)]) }
        try context.save()
        context.undoManager = UndoManager()
        context.delete(book)
        _ = context.hasChanges
        context.insert(book)
        #expect(book[many: "chapters"].isEmpty)
        if moment == .afterSave { try context.save() }
        context.undo()
        #expect(book[many: "chapters"].texts("name") == ["2", "1", "3"])
        #expect(context.hasChanges == (moment == .afterSave))
        try context.save()
        #expect(try store.problems() == [])
        let fresh = store.context()
        #expect(try fresh.one("Book")[many: "chapters"].texts("name") == ["2", "1", "3"])
    }
}
