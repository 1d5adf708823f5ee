import Foundation
import ObjectGraph
import Testing

@Suite struct UndoDeletingTests {
    /// Whether there is a save between the deletion and the undo.
    enum Moment: CaseIterable { case beforeSave, afterSave }

    private static func owner(
        _ kind: StoreKind,
        along relationship: String
    ) throws -> (TestStore, ManagedObjectContext, ManagedObject, [ManagedObject]) {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let owner = context.make("Owner", ["name": "owner"])
        let items = ["a", "b"].map { context.make("Item", ["name": .text($0)]) }
        owner[many: relationship] = items
        try context.save()
        context.undoManager = UndoManager()
        return (store, context, owner, items)
    }

    @Test(
        arguments: StoreKind.allCases.flatMap { kind in Moment.allCases.map { (kind, $0) } },
        [("nullified", "nullifying"), ("cascaded", "cascading"), ("ignored", "ignoring")]
    )
    func `a deletion is undone with the changes of its delete rules`(
        at place: (kind: StoreKind, moment: Moment),
        along names: (relationship: String, inverse: String)
    ) throws {
        let (store, context, owner, items) = try Self.owner(place.kind, along: names.relationship)
        let id = owner.managedObjectID
        context.delete(owner)
        #expect(items.allSatisfy { $0[one: names.inverse] == nil })
        if place.moment == .afterSave { try context.save() }
        context.undo()
        #expect(!owner.isObjectDeleted)
        #expect(owner["name"] == "owner")
        #expect(owner.managedObjectID == id)
        #expect(owner[many: names.relationship].texts("name") == ["a", "b"])
        #expect(items.allSatisfy { $0[one: names.inverse] === owner })
        #expect(context.hasChanges == (place.moment == .afterSave))
        try context.save()
        try Self.check(store, names)

        context.redo()
        #expect(owner.isObjectDeleted)
        #expect(items.allSatisfy { $0.isObjectDeleted == (names.relationship == "cascaded") })
        try context.save()
        let reader = store.context()
        #expect(try reader.all("Owner").isEmpty)
        #expect(try reader.all("Item").count == (names.relationship == "cascaded" ? 0 : 2))
        context.undo()
        try context.save()
        try Self.check(store, names)
    }

    private static func check(_ store: TestStore, _ names: (relationship: String, inverse: String)) throws {
        let reader = store.context()
        let owner = try reader.one("Owner")
        #expect(owner[many: names.relationship].names == ["a", "b"])
        #expect(try reader.all("Item").allSatisfy { $0[one: names.inverse] === owner })
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `a cascade of several steps is undone`(kind: StoreKind, moment: Moment) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let nodes = (0..<5).map { context.make("Node", ["name": .text("\($0)")]) }
        for (node, next) in zip(nodes, nodes.dropFirst()) { node[one: "next"] = next }
        try context.save()
        context.undoManager = UndoManager()
        context.delete(nodes[1])
        if moment == .afterSave { try context.save() }
        #expect(try context.all("Node").count == 1)
        context.undo()
        #expect(try context.all("Node").count == 5)
        for (node, next) in zip(nodes, nodes.dropFirst()) {
            #expect(node[one: "next"] === next)
            #expect(next[one: "previous"] === node)
        }
        try context.save()
        let reader = store.context()
        let first = try reader.one("Node", where: store.model.path("Node", "name") == "0")
        #expect(first[one: "next"]?[one: "next"]?[one: "next"]?[one: "next"]?["name"] == "4")
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `members of every kind of relationship return to their positions`(kind: StoreKind, moment: Moment) throws {
        let store = try TestStore(kind)
        let setup = store.context()
        let made = setup.make("Book", ["name": "book"])
        made[one: "author"] = setup.make("Author", ["name": "author"])
        made[many: "tags"] = ["x", "y"].map { setup.make("Tag", ["name": .text($0)]) }
        made[many: "chapters"] = ["2", "1", "3"].map { setup.make("Chapter", ["name": .text($0)]) }
        made[one: "cover"] = setup.make("Cover", ["name": "cover"])
        let neighbour = setup.make("Book", ["name": "neighbour"])
        made[many: "tags"][0][many: "books"] = [neighbour, made]
        try setup.save()

        let context = store.context()
        context.undoManager = UndoManager()
        let book = try context.counterpart(of: made)
        context.delete(book)
        if moment == .afterSave { try context.save() }
        #expect(try context.all("Chapter").isEmpty)
        context.undo()
        try Self.check(context)
        try context.save()
        try Self.check(store.context())
        context.redo()
        context.undo()
        try Self.check(context)
        try context.save()
        try Self.check(store.context())
    }

    private static func check(_ context: ManagedObjectContext) throws {
        let book = try context.one("Book", where: context.model.path("Book", "name") == "book")
        #expect((book[one: "author"]?[many: "books"] ?? []) === [book])
        #expect(book[many: "tags"].texts("name") == ["x", "y"])
        #expect(book[many: "tags"].map { $0[many: "books"].texts("name") } == [["neighbour", "book"], ["book"]])
        #expect(book[many: "chapters"].texts("name") == ["2", "1", "3"])
        #expect(book[many: "chapters"].allSatisfy { $0[one: "book"] === book })
        #expect(book[one: "cover"]?["name"] == "cover")
        #expect(book[one: "cover"]?[one: "book"] === book)
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `one-way relationships to the object are restored`(kind: StoreKind, moment: Moment) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "author"])
        let books = ["a", "b"].map { context.make("Book", ["name": .text($0)]) }
        author[many: "readings"] = books
        author[one: "favourite"] = books[0]
        try context.save()
        context.undoManager = UndoManager()
        #expect(author[many: "readings"].count == 2)
        context.delete(books[0])
        #expect(author[one: "favourite"] == nil)
        if moment == .afterSave { try context.save() }
        context.undo()
        #expect(author[one: "favourite"] === books[0])
        #expect(author[many: "readings"].names == ["a", "b"])
        try context.save()
        let reader = store.context()
        let found = try reader.one("Author")
        #expect(found[one: "favourite"]?["name"] == "a")
        #expect(found[many: "readings"].names == ["a", "b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted new object is restored with its values and relationships`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        let author = context.make("Author", ["name": "author"])
        let book = context.make("Book", ["name": "a"])
        author[many: "books"] = [book]
        context.processPendingChanges()
        context.delete(author)
        #expect(book[one: "author"] == nil)
        context.undo()
        #expect(author.isInserted)
        #expect(author["name"] == "author")
        #expect(book[one: "author"] === author)
        #expect(author[many: "books"] === [book])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["a"])
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `an unread object is restored with its values`(kind: StoreKind, moment: Moment) throws {
        let store = try TestStore(kind, Fixtures.model(EntityDescription("Word", attributes: [.init("text", .string)])))
        let writer = store.context()
        let word = writer.make("Word", ["text": "kokoro"])
        try writer.save()
        let context = store.context()
        context.undoManager = UndoManager()
        let fault = try #require(context.object(with: word.managedObjectID) as? ManagedObject)
        context.delete(fault)
        if moment == .afterSave { try context.save() }
        context.undo()
        #expect(fault["text"] == "kokoro")
        try context.save()
        #expect(try store.context().one("Word")["text"] == "kokoro")
    }

    @Test(arguments: StoreKind.allCases, Moment.allCases)
    func `a deferred large value is restored`(kind: StoreKind, moment: Moment) throws {
        let image = AttributeDescription("image", .data, isOptional: true, allowsExternalStorage: true)
        let store = try TestStore(kind, Fixtures.model(EntityDescription("Photo", attributes: [image])))
        let bytes: Value = .blob(Data(repeating: 7, count: 1_000_000))
        let writer = store.context()
        writer.make("Photo", ["image": bytes])
        try writer.save()
        let context = store.context()
        context.undoManager = UndoManager()
        let photo = try context.one("Photo")
        context.delete(photo)
        if moment == .afterSave { try context.save() }
        context.undo()
        #expect(photo["image"] == bytes)
        #expect(context.hasChanges == (moment == .afterSave))
        try context.save()
        photo["image"] = .null
        try context.save()
        context.undo()
        try context.save()
        #expect(try store.context().one("Photo")["image"] == bytes)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes and the deletion of an object are undone one after the other`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "a"])
        try context.save()
        context.undoManager = UndoManager()
        author["name"] = "b"
        context.processPendingChanges()
        context.delete(author)
        context.undo()
        #expect(author["name"] == "b")
        #expect(author.isUpdated)
        context.undo()
        #expect(author["name"] == "a")
        #expect(!context.hasChanges)
        context.redo()
        context.redo()
        #expect(author.hasPendingDeletion)
        try context.save()
        context.undo()
        context.undo()
        #expect(author["name"] == "a")
        try context.save()
        #expect(try store.context().one("Author")["name"] == "a")
    }

    @Test(arguments: StoreKind.allCases)
    func `other contexts merge the undo of a saved deletion`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        let author = context.make("Author", ["name": "a"])
        try context.save()
        context.undoManager = UndoManager()
        let counterpart = try other.counterpart(of: author)
        author["name"] = "b"
        context.processPendingChanges()
        context.delete(author)
        try context.save()
        #expect(try other.all("Author").isEmpty)
        #expect(counterpart.isObjectDeleted)
        context.undo()
        try context.save()
        #expect(try other.all("Author") === [counterpart])
        #expect(!counterpart.isObjectDeleted)
        #expect(counterpart["name"] == "b")
        counterpart["name"] = "c"
        try other.save()
        #expect(try context.one("Author")["name"] == "c")
    }
}
