import Foundation
import ObjectGraph
import Testing

@Suite struct BatchDeleteTests {
    private static func request(
        _ store: TestStore,
        _ entity: String,
        where predicate: QueryExpression? = nil
    ) -> BatchDeleteRequest {
        BatchDeleteRequest(store.model.entitiesByName[entity]!, predicate: predicate)
    }

    @Test(arguments: StoreKind.allCases)
    func `matching objects are deleted in all contexts`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let authors = (0..<6).map { context.make("Author", ["name": .text("\($0)"), "born": .integer(Int64($0))]) }
        try context.save()
        let other = store.context()
        let counterpart = try other.counterpart(of: authors[5])
        var request = Self.request(store, "Author", where: store.model.path("Author", "born") > 3)
        request.resultType = .objectIDs
        #expect(try context.execute(request) == .objectIDs(authors[4...].map(\.managedObjectID)))
        #expect(authors.map(\.isObjectDeleted) == [false, false, false, false, true, true])
        #expect(authors[4]["name"] == "4", "the last value")
        #expect(!context.hasChanges)
        #expect(try other.all("Author").count == 4)
        #expect(counterpart.isObjectDeleted)
        request = Self.request(store, "Author")
        request.resultType = .count
        #expect(try context.execute(request) == .count(4))
        #expect(try context.execute(request) == .count(0))
    }

    @Test(arguments: StoreKind.allCases)
    func `no reference to a deleted object remains`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let books = ["a", "b"].map { context.make("Book", ["name": .text($0)]) }
        let tag = context.make("Tag")
        author[many: "books"] = books
        author[many: "readings"] = books
        author[one: "favourite"] = books[0]
        tag[many: "books"] = books
        books[0][one: "cover"] = context.make("Cover")
        try context.save()
        #expect(author[many: "readings"].count == 2)
        try context.execute(Self.request(store, "Book", where: store.model.path("Book", "name") == "a"))
        for (reader, isNew) in [(context, false), (store.context(), true)] {
            let author = try reader.one("Author")
            #expect(author[many: "books"].names == ["b"], "a new context: \(isNew)")
            #expect(author[many: "readings"].names == ["b"], "a new context: \(isNew)")
            #expect(author[one: "favourite"] == nil, "a new context: \(isNew)")
            #expect(try reader.one("Tag")[many: "books"].names == ["b"], "a new context: \(isNew)")
            #expect(try reader.count(reader.request("Cover")) == 0, "a new context: \(isNew)")
        }
        let rows = try context.fetchDictionaries(DictionaryFetchRequest(store.model.entitiesByName["Author"]!))
        #expect(rows[0]["favourite"] == .null)
        try context.execute(Self.request(store, "Author"))
        let reader = store.context()
        #expect(try reader.one("Book")[one: "author"] == nil)
        #expect(books[1][one: "author"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `cascades run through several entities and are counted`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let books = (0..<3).map { _ in context.make("Book") }
        for book in books {
            book[many: "chapters"] = (0..<4).map { _ in context.make("Chapter") }
            book[one: "cover"] = context.make("Cover")
        }
        try context.save()
        books[0]["name"] = "kept"
        try context.save()
        var request = Self.request(store, "Book", where: store.model.path("Book", "name") == .null)
        request.resultType = .count
        #expect(try context.execute(request) == .count(2 + 8 + 2))
        let reader = store.context()
        #expect(try reader.one("Book")[many: "chapters"].count == 4)
        #expect(try reader.count(reader.request("Chapter")) == 4)
        #expect(try reader.count(reader.request("Cover")) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `cascade runs along a long chain and terminates in a cycle`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let writer = store.context()
        let nodes = (0..<20_000).map { writer.make("Node", ["name": .text("\($0)")]) }
        for (node, next) in zip(nodes, nodes.dropFirst() + [nodes[0]]) { node[one: "next"] = next }
        try writer.save()
        let context = store.context()
        try context.execute(Self.request(store, "Node", where: store.model.path("Node", "name") == "77"))
        #expect(try context.count(context.request("Node")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `deny refuses, unless the destinations are deleted too`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let owners = ["a", "b"].map { context.make("Owner", ["name": .text($0)]) }
        let item = context.make("Item")
        owners[0][many: "denied"] = [item]
        try context.save()
        let failure = #expect(throws: ObjectGraphError.self) { try context.execute(Self.request(store, "Owner")) }
        guard case .validation(let problems)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(problems.map(\.id) == [owners[0].managedObjectID])
        #expect(problems.map(\.reason) == [.deletionDenied])
        #expect(!owners[1].isObjectDeleted)
        #expect(try store.context().count(context.request("Owner")) == 2)
        owners[0][many: "cascaded"] = [item]
        try context.save()
        try context.execute(Self.request(store, "Owner"))
        #expect(try store.context().count(context.request("Item")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `nullify and no action clear the reference`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.rules)
        let context = store.context()
        let owner = context.make("Owner")
        owner[many: "nullified"] = [context.make("Item")]
        owner[many: "ignored"] = [context.make("Item")]
        try context.save()
        try context.execute(Self.request(store, "Owner"))
        let reader = store.context()
        let items = try reader.all("Item")
        #expect(items.count == 2)
        #expect(items.allSatisfy { $0[one: "nullifying"] == nil && $0[one: "ignoring"] == nil })
    }

    @Test(arguments: StoreKind.allCases)
    func `nullify refuses a required reference`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription("Parent", relationships: [.init("children", to: "Child", .many, inverse: "parent")]),
            EntityDescription(
                "Child",
                relationships: [.init("parent", to: "Parent", .one, inverse: "children", isOptional: false)]
            )
        )
        let store = try TestStore(kind, model)
        let context = store.context()
        let parent = context.make("Parent")
        let child = context.make("Child")
        child[one: "parent"] = parent
        try context.save()
        let failure = #expect(throws: ObjectGraphError.self) { try context.execute(Self.request(store, "Parent")) }
        guard case .validation(let problems)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(problems.map(\.id) == [child.managedObjectID])
        #expect(problems.map(\.reason) == [.missingValue])
        try context.execute(Self.request(store, "Child"))
        try context.execute(Self.request(store, "Parent"))
        #expect(try store.context().count(context.request("Parent")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a predicate may use relationships`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.people)
        let context = store.context()
        let people = ["a", "b", "c"].map { context.make("Person", ["name": .text($0)]) }
        people[0][one: "mentor"] = people[1]
        people[1][one: "mentor"] = people[2]
        try context.save()
        try context.execute(
            Self.request(store, "Person", where: store.model.path("Person", "mentor", "name") != .null)
        )
        #expect(try store.context().all("Person").names == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `pending changes of a deleted object are a conflict`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        try context.save()
        author["name"] = "changed"
        try context.execute(Self.request(store, "Author"))
        let failure = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .conflicts(let conflicts)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(conflicts.map(\.objectID) == [author.managedObjectID])
        context.rollback()
        #expect(author.isObjectDeleted)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects of a subentity are deleted with their references`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals)
        let context = store.context()
        let keeper = context.make("Keeper")
        let animals = ["Bird", "Penguin", "Cat"].map { context.make($0, ["name": .text($0)]) }
        keeper[many: "animals"] = animals
        try context.save()
        var request = Self.request(store, "Bird")
        request.includesSubentities = false
        try context.execute(request)
        #expect(keeper[many: "animals"].names == ["Penguin", "Cat"])
        #expect(animals.map(\.isObjectDeleted) == [true, false, false])
        try context.execute(Self.request(store, "Keeper"))
        let reader = store.context()
        #expect(try reader.all("Animal").allSatisfy { $0[one: "keeper"] == nil })
    }
}
