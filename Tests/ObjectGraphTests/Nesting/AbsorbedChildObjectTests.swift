import ObjectGraph
import Testing

@Suite("New objects of a child that the parent merges into saved ones") struct AbsorbedChildObjectTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Person",
            attributes: [.init("email", .string), .init("age", .int64, isOptional: true)],
            uniquenessConstraints: [["email"]]
        )
    )

    @Test(arguments: StoreKind.allCases)
    func `a later change of such an object finds that it is gone`(kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let parent = store.context()
        parent.mergePolicy = .mergeByPropertyObjectTrump
        let saved = parent.make("Person", ["email": "a"])
        try parent.save()
        let child = ManagedObjectContext(parent: parent)
        child.mergePolicy = .mergeByPropertyObjectTrump
        let new = child.make("Person", ["email": "a", "age": 1])
        try child.save()
        try parent.save()
        #expect(saved["age"] == 1)
        new["age"] = 2
        try child.save()
        #expect(new.isObjectDeleted)
        try parent.save()
        #expect(try store.context().one("Person")["age"] == 1)
    }
}
