import Foundation
import ObjectGraph
import Testing

@Suite struct SavingTests {
    struct Refusal: Error {}

    @Test(arguments: StoreKind.allCases)
    func `a context that fetches afterwards has the change`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        try context.save()
        author["name"] = "Mori Ōgai"
        #expect(author.isUpdated)
        #expect(context.updatedObjects.count == 1)
        try context.save()
        #expect(!author.isUpdated)
        #expect(try store.context().one("Author")["name"] == "Mori Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `a save without changes does not reach the store`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        try store.context().save()
        #expect(store.counter[.save] == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `setting the old value again writes nothing`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai", "born": 1862])
        try context.save()
        store.counter.reset()
        author["name"] = "Mori"
        author["born"] = .null
        author["name"] = "Ōgai"
        author["born"] = 1862
        try context.save()
        #expect(!context.hasChanges)
        #expect(store.counter[.save] == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `removing a member and adding it again writes nothing`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book")
        let tag = context.make("Tag")
        let author = context.make("Author")
        book[one: "author"] = author
        author[many: "readings"] = [book]
        try context.save()
        store.counter.reset()
        book[one: "author"] = nil
        author[many: "readings"] = []
        book[one: "author"] = author
        author[many: "readings"] = [book]
        try context.save()
        #expect(store.counter[.save] == 0)
        _ = tag
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed save changes nothing and can be repeated`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let old = context.make("Author", ["name": "old"])
        let gone = context.make("Author", ["name": "gone"])
        try context.save()
        old["name"] = "changed"
        context.delete(gone)
        let new = context.make("Author", ["name": "new"])
        let book = context.make("Book", ["name": "book"])
        book[one: "author"] = new
        book[many: "tags"] = [context.make("Tag", ["name": "tag"])]

        store.counter.failNextSave(with: Refusal())
        #expect(throws: Refusal.self) { try context.save() }
        #expect(old.isUpdated)
        #expect(new.isInserted)
        #expect(new.managedObjectID.isTemporary)
        #expect(gone.isObjectDeleted)
        #expect(book[one: "author"] === new)
        #expect(new[many: "books"].names == ["book"])
        #expect(try context.all("Author").names == ["changed", "new"])
        #expect(try store.context().all("Author").names == ["old", "gone"])

        try context.save()
        let other = store.context()
        #expect(try other.all("Author").names == ["changed", "new"])
        #expect(try other.one("Book")[one: "author"]?["name"] == "new")
        #expect(try other.one("Book")[many: "tags"].names == ["tag"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed save can be rolled back`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "old"])
        try context.save()
        author["name"] = "changed"
        context.make("Author", ["name": "new"])[many: "books"] = [context.make("Book")]
        store.counter.failNextSave(with: Refusal())
        #expect(throws: Refusal.self) { try context.save() }
        context.rollback()
        #expect(!context.hasChanges)
        #expect(author["name"] == "old")
        #expect(try context.all("Author").names == ["old"])
        author["name"] = "again"
        try context.save()
        #expect(try store.context().one("Author")["name"] == "again")
    }

    @Test(arguments: StoreKind.allCases)
    func `a read-only store refuses to save`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        writer.make("Author", ["name": "Ōgai"])
        try writer.save()
        let coordinator = try store.anotherCoordinator(isReadOnly: true)
        let context = ManagedObjectContext(coordinator: coordinator)
        let author = try context.one("Author")
        author["name"] = "changed"
        #expect(throws: (any Error).self) { try context.save() }
        #expect(author["name"] == "changed")
        context.rollback()
        #expect(author["name"] == "Ōgai")
        try coordinator.removeAllStores()
    }

    @Test(arguments: StoreKind.allCases)
    func `saved objects are in the reopened store`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let book = context.make("Book", ["name": "Kokoro"])
        book[one: "author"] = context.make("Author", ["name": "Sōseki"])
        book[many: "chapters"] = ["a", "b", "c"].map { context.make("Chapter", ["name": .text($0)]) }
        try context.save()
        try store.reopen()
        let reader = store.context()
        let found = try reader.one("Book")
        #expect(found["name"] == "Kokoro")
        #expect(found[one: "author"]?["name"] == "Sōseki")
        #expect(found[many: "chapters"].texts("name") == ["a", "b", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a duplicate of a unique value fails the save`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription(
                "User",
                attributes: [.init("mail", .string), .init("site", .string)],
                uniquenessConstraints: [["mail", "site"]]
            )
        )
        let context = try TestStore(kind, model).context()
        context.make("User", ["mail": "a@b", "site": "x"])
        context.make("User", ["mail": "a@b", "site": "y"])
        try context.save()
        let second = context.make("User", ["mail": "a@b", "site": "y"])
        #expect(throws: (any Error).self) { try context.save() }
        second["site"] = "z"
        try context.save()
        #expect(try context.all("User").count == 3)
    }
}
