import ObjectGraph
import Testing

@Suite struct InsertingTests {
    private struct Problem: Equatable {
        let property: String
        let reason: ObjectGraphError.ValidationProblem.Reason

        init(_ property: String, _ reason: ObjectGraphError.ValidationProblem.Reason) {
            self.property = property
            self.reason = reason
        }
    }

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

        let reader = store.context()
        let other = try reader.one("Author")
        #expect(other["name"] == "Sōseki")
        #expect(other["born"] == 1867)
        #expect(other.managedObjectID == author.managedObjectID)
    }

    @Test(arguments: StoreKind.allCases)
    func `a new object is fetched before it is saved`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        let author = context.make("Author", ["name": "Ōgai"])
        #expect(try context.one("Author") === author)
    }

    @Test(arguments: StoreKind.allCases)
    func `inserting an object twice inserts it once`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author")
        context.insert(author)
        #expect(context.insertedObjects.count == 1)
        try context.save()
        context.insert(author)
        #expect(!context.hasChanges)
        #expect(try store.context().all("Author").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `inserting one of several related objects inserts all of them`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let author = ManagedObject.make(store.model, "Author", ["name": "Ōgai"])
        let book = ManagedObject.make(store.model, "Book", ["name": "Gan"])
        let tag = ManagedObject.make(store.model, "Tag", ["name": "novel"])
        book[one: "author"] = author
        tag[many: "books"] = [book]
        let context = store.context()
        context.insert(tag)
        #expect(
            Set(context.insertedObjects.map { ObjectIdentifier($0) })
                == Set([author, book, tag].map { ObjectIdentifier($0) })
        )
        try context.save()
        let reader = store.context()
        let found = try reader.one("Book")
        #expect(found[one: "author"]?["name"] == "Ōgai")
        #expect(found[many: "tags"].texts("name") == ["novel"])
    }

    @Test(arguments: StoreKind.allCases)
    func `relating a new object to an object of a context inserts it`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        let book = ManagedObject.make(store.model, "Book", ["name": "Gan"])
        book[one: "author"] = author
        #expect(book.isInserted)
        #expect(author[many: "books"].names == ["Gan"])
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Author")[many: "books"].names == ["Gan"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that is inserted and deleted before a save is never saved`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        context.delete(author)
        #expect(author.isObjectDeleted)
        #expect(!author.isInserted)
        #expect(!context.hasChanges)
        try context.save()
        #expect(author["name"] == "Ōgai")
        #expect(store.counter[.save] == 0)
        #expect(try store.context().count(context.request("Author")) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that was deleted before it was saved can be inserted again`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        let book = context.make("Book", ["name": "Gan"])
        book[one: "author"] = author
        context.delete(author)
        #expect(book[one: "author"] == nil)
        context.insert(author)
        #expect(author[many: "books"].names == ["Gan"])
        #expect(book[one: "author"] === author)
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Book")[one: "author"]?["name"] == "Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object whose deletion was saved can be inserted again as a new one`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let author = context.make("Author", ["name": "Ōgai"])
        try context.save()
        let oldID = author.managedObjectID
        context.delete(author)
        try context.save()
        context.insert(author)
        #expect(author.isInserted)
        try context.save()
        #expect(author.managedObjectID != oldID)
        #expect(try store.context().one("Author")["name"] == "Ōgai")
    }

    @Test(arguments: StoreKind.allCases)
    func `a missing required value fails the save with every problem at once`(kind: StoreKind) throws {
        let model = Fixtures.model(
            EntityDescription(
                "Form",
                attributes: [.init("first", .string), .init("second", .int64)],
                relationships: [
                    .init("owner", to: "Form", .one, isOptional: false),
                    .init("few", to: "Form", .many, minimumCount: 1),
                    .init("many", to: "Form", .many, maximumCount: 1),
                ]
            )
        )
        let context = try TestStore(kind, model).context()
        let form = context.make("Form", ["second": 2])
        form[many: "many"] = [form, ManagedObject.make(model, "Form", ["first": "x", "second": 1])]
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        let own = problems.filter { $0.id == form.managedObjectID }.map { Problem($0.property, $0.reason) }
        #expect(
            own == [
                Problem("first", .missingValue), Problem("owner", .missingValue), Problem("few", .tooFewMembers),
                Problem("many", .tooManyMembers),
            ]
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `NaN fails the save, and the error names the property`(kind: StoreKind) throws {
        let context = try TestStore(kind).context()
        context.make("Book")["price"] = .real(.nan)
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(problems.map(\.property) == ["price"])
        #expect(problems.map(\.reason) == [.notRepresentable])
    }
}
