import Foundation
import ObjectGraph
import Testing

@Suite struct BatchInsertTests {
    private static func request(_ store: TestStore, _ entity: String, _ objects: [[String: Value]])
        -> BatchInsertRequest
    {
        BatchInsertRequest(store.model.entitiesByName[entity]!, objects: objects)
    }

    @Test(arguments: StoreKind.allCases)
    func `rows become objects with new identifiers`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let saved = context.make("Author", ["name": "saved"])
        try context.save()
        var request = Self.request(store, "Author", [["name": "a", "born": 1], ["name": "b"]])
        request.resultType = .objectIDs
        guard case .objectIDs(let ids) = try context.execute(request) else {
            Issue.record("the result holds no identifiers")
            return
        }
        #expect(Set(ids + [saved.managedObjectID]).count == 3)
        let authors = try ids.map { try #require(try context.existingObject(with: $0) as? ManagedObject) }
        #expect(authors.texts("name") == ["a", "b"])
        #expect(authors.map { $0["born"] } == [1, .null])
        context.make("Author", ["name": "later"])
        try context.save()
        #expect(try store.context().all("Author").texts("name").sorted() == ["a", "b", "later", "saved"])
    }

    @Test(arguments: StoreKind.allCases)
    func `the result is the count, or only the status`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        var request = Self.request(store, "Author", [[:], [:], [:]])
        #expect(try context.execute(request) == .statusOnly)
        request = Self.request(store, "Author", [[:], [:], [:]])
        request.resultType = .count
        #expect(try context.execute(request) == .count(3))
        #expect(try context.execute(request) == .count(0), "the sequence has no further rows")
        #expect(try context.count(context.request("Author")) == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func `the closure is called while rows are written`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        var number = 0
        var request = BatchInsertRequest(store.model.entitiesByName["Book"]!) {
            number += 1
            return number > 5_000 ? nil : ["pages": .integer(Int64(number))]
        }
        request.resultType = .count
        #expect(try context.execute(request) == .count(5_000))
        #expect(context.registeredObjects.isEmpty)
        let book = store.model.entitiesByName["Book"]!
        let sums = DictionaryFetchRequest(book, [.init("sum", .aggregate(.sum, of: store.model.path("Book", "pages")))])
        #expect(try context.fetchDictionaries(sums)[0]["sum"] == 12_502_500)
    }

    @Test(arguments: StoreKind.allCases)
    func `to-one relationships are set by key, and loaded collections follow`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        let book = context.make("Book")
        book[many: "chapters"] = [context.make("Chapter", ["name": "first"])]
        try context.save()
        let other = store.context()
        let counterpart = try other.counterpart(of: author)
        #expect(author[many: "books"].isEmpty)
        #expect(counterpart[many: "books"].isEmpty)
        try context.execute(
            Self.request(store, "Book", [["name": "new", "author": .integer(author.managedObjectID.key)]])
        )
        #expect(author[many: "books"].names == ["new"])
        _ = try other.count(other.request("Tag"))
        #expect(counterpart[many: "books"].names == ["new"])
        try context.execute(
            Self.request(store, "Chapter", [["name": "second", "book": .integer(book.managedObjectID.key)]])
        )
        #expect(book[many: "chapters"].texts("name") == ["first", "second"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a destination that does not exist is refused`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let failure = #expect(throws: ObjectGraphError.self) {
            try context.execute(Self.request(store, "Book", [[:], ["author": 4_711]]))
        }
        guard case .conflicts(let conflicts)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(conflicts.map(\.objectID.key) == [4_711])
        #expect(try context.count(context.request("Book")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `missing values are all reported and nothing is inserted`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let failure = #expect(throws: ObjectGraphError.self) {
            try context.execute(Self.request(store, "Chapter", [["name": "a"], ["name": "b", "book": .null]]))
        }
        guard case .validation(let problems)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(problems.map(\.property) == ["book", "book"])
        #expect(problems.allSatisfy { $0.reason == .missingValue })
        #expect(try context.count(context.request("Chapter")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `values out of their bounds are reported`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription(
                "Thing",
                attributes: [
                    .init("small", .int8, isOptional: true), .init("real", .double, isOptional: true),
                    .init("text", .string, isOptional: true, validation: .init(maximumLength: 3)),
                ]
            )
        )
        let store = try TestStore(kind, model)
        let objects: [[String: Value]] = [
            ["small": 128], ["small": -128, "text": "four"], ["real": .real(.nan)], ["text": "abc", "real": 1.5],
        ]
        let failure = #expect(throws: ObjectGraphError.self) {
            try store.context().execute(Self.request(store, "Thing", objects))
        }
        guard case .validation(let problems)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(problems.map(\.reason) == [.notRepresentable, .tooLong, .notRepresentable])
    }

    @Test(arguments: StoreKind.allCases)
    func `properties of another entity and values of a wrong type are refused`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let refusals: [(String, [String: Value], ObjectGraphError.BatchProblem)] = [
            ("Author", ["nme": "x"], .unknownProperty), ("Author", ["name": 1], .wrongType),
            ("Author", ["books": 1], .toMany), ("Cover", ["book": 1], .inverseMustChange),
        ]
        for (entity, object, reason) in refusals {
            let failure = #expect(throws: ObjectGraphError.self, "\(reason)") {
                try context.execute(Self.request(store, entity, [object]))
            }
            guard case .invalidBatch(entity, object.keys.first, reason)? = failure else {
                Issue.record("the error is \(String(describing: failure))")
                continue
            }
        }
        let zoo = try TestStore(kind, Fixtures.animals)
        #expect(throws: ObjectGraphError.self) { try zoo.context().execute(Self.request(zoo, "Animal", [[:]])) }
        try zoo.context().execute(Self.request(zoo, "Penguin", [["dives": 3, "wingspan": 0.5]]))
        #expect(try zoo.context().one("Bird")["wingspan"] == 0.5)
    }

    @Test(arguments: StoreKind.allCases)
    func `a duplicate unique value is reported and nothing is inserted`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription("Word", attributes: [.init("text", .string)], uniquenessConstraints: [["text"]])
        )
        let store = try TestStore(kind, model)
        let context = store.context()
        let words = (0..<2_000).map { ["text": Value.text("\($0 % 1_999)")] }
        let failure = #expect(throws: ObjectGraphError.self) {
            try context.execute(Self.request(store, "Word", words))
        }
        guard case .notUnique(let conflicts)? = failure else {
            Issue.record("the error is \(String(describing: failure))")
            return
        }
        #expect(conflicts.map(\.properties) == [["text"]])
        #expect(try context.count(context.request("Word")) == 0)
        try context.execute(Self.request(store, "Word", Array(words.dropLast())))
        #expect(try context.count(context.request("Word")) == 1_999)
    }

    @Test(arguments: StoreKind.allCases)
    func `an error thrown by the closure ends the request and nothing is inserted`(kind: StoreKind) throws {
        struct Unreadable: Error {}
        let store = try TestStore(kind)
        let context = store.context()
        var number = 0
        let request = BatchInsertRequest(store.model.entitiesByName["Author"]!) {
            number += 1
            if number > 1_000 { throw Unreadable() }
            return [:]
        }
        #expect(throws: Unreadable.self) { try context.execute(request) }
        #expect(try context.count(context.request("Author")) == 0)
        let author = context.make("Author")
        try context.save()
        #expect(try store.context().one("Author").managedObjectID == author.managedObjectID)
    }

    @Test(arguments: StoreKind.allCases)
    func `a read-only store refuses all batch requests`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let entity = store.model.entitiesByName["Author"]!
        let context = ManagedObjectContext(coordinator: try store.anotherCoordinator(isReadOnly: true))
        let isRefusal = { (error: any Error) in
            if case ObjectGraphError.storeIsReadOnly = error { true } else { false }
        }
        #expect { try context.execute(Self.request(store, "Author", [[:]])) } throws: { isRefusal($0) }
        #expect { try context.execute(BatchDeleteRequest(entity)) } throws: { isRefusal($0) }
        #expect {
            try context.execute(BatchUpdateRequest(entity, propertiesToUpdate: ["born": .literal(1)]))
        } throws: {
            isRefusal($0)
        }
    }
}
