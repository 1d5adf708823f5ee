import ObjectGraph
import Testing

@Suite struct InsertingTests {
    @Test(arguments: StoreKind.allCases)
    func `a saved object is fetched by a second context`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Sōseki", "born": 1867])
        #expect(author.isInserted)
        #expect(author.managedObjectID.isTemporary)
        try context.save()
        #expect(!author.isInserted)
        #expect(!author.managedObjectID.isTemporary)
        #expect(!context.hasChanges)

        let other = try store.context().one("Author")
        #expect(other["name"] == "Sōseki")
        #expect(other["born"] == 1867)
        #expect(other.managedObjectID == author.managedObjectID)
    }
}
