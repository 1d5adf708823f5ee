import ObjectGraph
import Testing

@Suite("Saves of objects whose values have not changed") struct UnchangedValueTests {
    // first                                second
    // sets a value, and the previous one
    //                                      changes the value, saves
    // saves: the object has no change
    @Test(arguments: StoreKind.allCases, [["1"], ["2", "1"]] as [[Value]])
    func `the save reads what another context has saved`(kind: StoreKind, values: [Value]) throws {
        let store = try TestStore(kind, Self.model)
        let (first, second) = (store.context(), store.context())
        let note = first.make("Note", ["title": "1"])
        try first.save()
        for value in values { note["title"] = value }
        let counterpart = try second.counterpart(of: note)
        counterpart["title"] = "3"
        try second.save()
        _ = first.make("Note", ["title": "new"])
        try first.save()
        #expect(note["title"] == "3")
        #expect(!first.hasChanges)
    }

    // first                                second
    // sets a value, and the previous one
    //                                      deletes the object, saves
    // saves: the object has no change
    @Test(arguments: StoreKind.allCases)
    func `the save notices that another context has deleted the object`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let (first, second) = (store.context(), store.context())
        let note = first.make("Note", ["title": "1"])
        try first.save()
        for value in ["2", "1"] as [Value] { note["title"] = value }
        second.delete(try second.counterpart(of: note))
        try second.save()
        _ = first.make("Note", ["title": "new"])
        try first.save()
        #expect(note.isObjectDeleted)
    }

    private static let model = Fixtures.model(
        EntityDescription("Note", attributes: [.init("title", .string, isOptional: true)])
    )
}
