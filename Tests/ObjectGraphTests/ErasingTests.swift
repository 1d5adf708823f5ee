import ObjectGraph
import Testing

@Suite("Erasing stores") struct ErasingTests {
    @Test(arguments: StoreKind.allCases)
    func `erasing deletes every object regardless of the delete rules`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let owner = context.make("Owner")
        owner[many: "denied"] = [context.make("Item"), context.make("Item")]
        try context.save()
        try store.coordinator.eraseStores()
        for entity in ["Owner", "Item", "Node"] { #expect(try store.context().all(entity).isEmpty) }
    }

    @Test(arguments: StoreKind.allCases)
    func `contexts drop erased objects, keep inserted ones, and can save again`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book", ["name": "old"])
        let tag = context.make("Tag", ["name": "tag"])
        book[many: "tags"] = [tag]
        try context.save()
        let id = book.managedObjectID
        book["pages"] = 7
        context.delete(tag)
        let new = context.make("Author", ["name": "new"])
        try store.coordinator.eraseStores()
        #expect(try context.all("Book").isEmpty)
        #expect(book.isObjectDeleted)
        #expect(book["name"] == "old")
        #expect(context.insertedObjects.count == 1)
        #expect(context.updatedObjects.isEmpty && context.deletedObjects.isEmpty)
        try context.save()
        #expect(try store.context().one("Author")["name"] == "new")
        #expect(new.managedObjectID != id)
        let again = context.make("Book")
        try context.save()
        #expect(again.managedObjectID.key > id.key)
    }

    @Test(arguments: StoreKind.allCases)
    func `a read-only store is not erased`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.make("Book")
        try context.save()
        let reader = try store.anotherCoordinator(isReadOnly: true)
        #expect(throws: (any Error).self) { try reader.eraseStores() }
        #expect(try store.context().all("Book").count == 1)
    }
}
