import ObjectGraph
import Testing

/// Members that the program restores after their owner's cascade deleted them.
@Suite struct RestoredMemberTests {
    /// The way in which the program restores the member and drops its changes.
    enum Restoring: CaseIterable, Sendable {
        case insert, refresh, refreshTwice, insertAndUndoChange
    }

    private static let model = Fixtures.model(
        EntityDescription(
            "Owner",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("cascaded", to: "Item", .many, inverse: "cascading", deleteRule: .cascade),
                .init("shared", to: "Item", .many, deleteRule: .cascade),
                .init("linked", to: "Item", .many, inverse: "linking", deleteRule: .cascade),
            ]
        ),
        EntityDescription(
            "Item",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("cascading", to: "Owner", .one, inverse: "cascaded"),
                .init("linking", to: "Owner", .many, inverse: "linked"),
            ]
        )
    )

    private static let cases = StoreKind.allCases.flatMap { kind in Restoring.allCases.map { (kind, $0) } }

    @Test(arguments: cases, ["cascaded", "shared", "linked"])
    func `the owner's deletion is saved without the member`(
        place: (kind: StoreKind, restoring: Restoring),
        along relationship: String
    ) throws {
        let store = try TestStore(place.kind, Self.model)
        let context = store.context()
        let owner = context.make("Owner")
        let items = ["a", "b"].map { context.make("Item", ["name": .text($0)]) }
        owner[many: relationship] = items
        try context.save()
        context.undoManager = UndoManager()
        context.delete(owner)
        #expect(items.allSatisfy { $0.isObjectDeleted })
        switch place.restoring {
        case .insert: context.insert(items[0])
        case .refresh: context.refresh(items[0], mergeChanges: false)
        case .refreshTwice: for _ in 0..<2 { context.refresh(items[0], mergeChanges: false) }
        case .insertAndUndoChange:
            context.insert(items[0])
            context.processPendingChanges()
            items[0]["name"] = "changed"
            context.undo()
        }
        #expect(!items[0].isObjectDeleted)
        #expect(items[0]["name"] == "a")
        try context.save()
        #expect(!context.hasChanges)
        let reader = store.context()
        #expect(try reader.all("Owner").isEmpty)
        let item = try reader.one("Item")
        #expect(item["name"] == "a")
        #expect(item[one: "cascading"] == nil)
        #expect(item[many: "linking"].isEmpty)
        #expect(try store.problems() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a refreshed object has no changes if no other object is deleted`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = store.context()
        let item = context.make("Item", ["name": "a"])
        try context.save()
        item["name"] = "changed"
        context.delete(item)
        context.refresh(item, mergeChanges: false)
        #expect(!context.hasChanges)
        #expect(item["name"] == "a")
    }
}
