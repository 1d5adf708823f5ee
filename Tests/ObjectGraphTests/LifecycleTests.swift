import ObjectGraph
import Testing

/// Records its lifecycle callbacks and runs the closures of a test in them.
private final class Witness: ManagedObject {
    var events: [String] = []
    var onWillSave: ((Witness) -> Void)?
    var onDidSave: ((Witness) -> Void)?
    var onValidation: ((Witness) -> Void)?
    var refusal: (any Error)?

    override func awakeFromInsert() { events.append("insert") }
    override func awakeFromFetch() { events.append("fetch") }
    override func prepareForDeletion() { events.append("delete") }
    override func willSave() {
        events.append("will save")
        onWillSave?(self)
    }
    override func didSave() {
        events.append("did save")
        onDidSave?(self)
    }
    override func validateForInsert() throws { try validate("insertion") }
    override func validateForUpdate() throws { try validate("update") }
    override func validateForDelete() throws { try validate("deletion") }

    private func validate(_ what: String) throws {
        events.append("valid \(what)")
        onValidation?(self)
        if let refusal { throw refusal }
    }
}

private struct Refusal: Error, CustomStringConvertible {
    let description: String
}

@Suite("Lifecycle callbacks of objects") struct LifecycleTests {
    @Test(arguments: StoreKind.allCases)
    func `undo and redo call neither awakeFromInsert nor prepareForDeletion`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        context.undoManager = UndoManager()
        let author = Self.witness(context, "Author")
        context.undo()
        context.redo()
        context.delete(author)
        context.undo()
        context.redo()
        #expect(author.events == ["insert", "delete"])
    }

    @Test(arguments: StoreKind.allCases)
    func `changes made in willSave are undone with the changes before the save`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        author["name"] = "a"
        try context.save()
        context.undoManager = UndoManager()
        author.onWillSave = { $0["born"] = 1 }
        author["name"] = "b"
        try context.save()
        author.onWillSave = nil
        context.undo()
        #expect(author["name"] == "a")
        #expect(author["born"] == .null)
        try context.save()
        #expect(try store.context().one("Author")["born"] == .null)
    }

    private static func store(_ kind: StoreKind) throws -> TestStore {
        try TestStore(kind, classes: ["Author": Witness.self, "Book": Witness.self, "Chapter": Witness.self])
    }

    private static func witness(_ context: ManagedObjectContext, _ entity: String) -> Witness {
        Witness(entity: context.model.entitiesByName[entity]!, insertInto: context)
    }

    @Test(arguments: StoreKind.allCases)
    func `callbacks arrive in order from insertion to deletion`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        try context.save()
        author["name"] = "x"
        try context.save()
        #expect(
            author.events == [
                "insert", "will save", "valid insertion", "did save", "will save", "valid update", "did save",
            ]
        )
        author.events = []
        context.delete(author)
        try context.save()
        #expect(author.events == ["delete", "will save", "valid deletion", "did save"])
    }

    @Test(arguments: StoreKind.allCases)
    func `awakeFromFetch is called once, by the fetch or when the fault is filled`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        try context.save()
        let second = store.context()
        let fetched = try #require(try second.all("Author").first as? Witness)
        _ = try second.all("Author")
        #expect(fetched.events == ["fetch"])
        let third = store.context()
        let fault = try #require(third.object(with: author.managedObjectID) as? Witness)
        #expect(fault.events.isEmpty)
        _ = fault["name"]
        #expect(fault.events == ["fetch"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a cascade calls prepareForDeletion on each object`(kind: StoreKind) throws {
        let context = try Self.store(kind).context()
        let book = Self.witness(context, "Book")
        let chapters = (0..<3).map { _ in Self.witness(context, "Chapter") }
        book[many: "chapters"] = chapters
        try context.save()
        context.delete(book)
        try context.save()
        #expect(chapters.allSatisfy { $0.events.filter { $0 == "delete" }.count == 1 })
    }

    @Test(arguments: StoreKind.allCases)
    func `changes made in willSave are part of the save`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        author.onWillSave = { author in
            author["born"] = 1
            if author[many: "books"].isEmpty {
                let book = Self.witness(author.managedObjectContext!, "Book")
                book.onWillSave = { $0["pages"] = 7 }
                book[one: "author"] = author
            }
        }
        try context.save()
        let reader = store.context()
        #expect(try reader.one("Author")["born"] == 1)
        #expect(try reader.one("Book")["pages"] == 7)
    }

    @Test func `objects that change each other in willSave forever are an error`() throws {
        let context = try Self.store(.reference).context()
        func makeAnother(_ witness: Witness) {
            Self.witness(witness.managedObjectContext!, "Author").onWillSave = makeAnother
        }
        Self.witness(context, "Author").onWillSave = makeAnother
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .endlessChanges? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `errors of validation methods are reported with all other problems`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let kept = Self.witness(context, "Author")
        let changed = Self.witness(context, "Author")
        try context.save()
        kept.refusal = Refusal(description: "it is needed")
        context.delete(kept)
        changed.refusal = Refusal(description: "it is wrong")
        changed["name"] = "x"
        let chapter = Self.witness(context, "Chapter")
        chapter.refusal = Refusal(description: "it is new")
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .validation(let problems)? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
        #expect(
            problems.map(\.description) == [
                "Chapter.book: it is not optional and has no value", "Chapter: it is new", "Author: it is wrong",
                "Author: it is needed",
            ]
        )
        for witness in [kept, changed, chapter] { witness.refusal = nil }
        chapter[one: "book"] = Self.witness(context, "Book")
        try context.save()
        #expect(try store.context().all("Author").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes made by a validation are validated and saved`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let other = Self.witness(context, "Author")
        try context.save()
        let author = Self.witness(context, "Author")
        author.onValidation = { author in
            author["name"] = "set by its validation"
            if other["born"] == .null { other["born"] = 1867 }
            if author[many: "books"].isEmpty {
                Self.witness(author.managedObjectContext!, "Book")[one: "author"] = author
            }
        }
        other.events = []
        try context.save()
        #expect(!context.hasChanges)
        #expect(other.events.contains("valid update"))
        let reader = store.context()
        let saved = try reader.all("Author")
        #expect(saved.map { $0["born"] } == [1867, .null])
        #expect(saved.map { $0["name"] } == [.null, "set by its validation"])
        #expect(saved[1][many: "books"].count == 1)
    }

    @Test func `validations that change other objects forever are an error`() throws {
        let context = try Self.store(.reference).context()
        func makeAnother(_ witness: Witness) {
            Self.witness(witness.managedObjectContext!, "Author").onValidation = makeAnother
        }
        Self.witness(context, "Author").onValidation = makeAnother
        let error = #expect(throws: ObjectGraphError.self) { try context.save() }
        guard case .endlessChanges? = error else {
            Issue.record("the error is \(String(describing: error))"); return
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a save from within willSave throws`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        var refusals = 0
        let save = { (author: Witness) in
            do {
                try author.managedObjectContext!.save()
            } catch ObjectGraphError.saveInProgress {
                refusals += 1
            } catch {
                Issue.record("the error is \(error)")
            }
        }
        author.onWillSave = save
        author.onValidation = save
        try context.save()
        #expect(refusals == 2)
        #expect(author.events.filter { $0 == "will save" }.count == 1)
        #expect(try store.context().all("Author").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `didSave may save the context`(kind: StoreKind) throws {
        let store = try Self.store(kind)
        let context = store.context()
        let author = Self.witness(context, "Author")
        author.onDidSave = { author in
            guard author["born"] == .null else { return }
            author["born"] = 1867
            do { try author.managedObjectContext!.save() } catch { Issue.record("the error is \(error)") }
        }
        try context.save()
        #expect(!context.hasChanges)
        #expect(try store.context().one("Author")["born"] == 1867)
    }
}
