import ObjectGraph
import Testing

/// A child deletes a book and saves, and undoes the deletion.
@Suite struct UndoneDeletionTests {
    /// The parent's action between the two saves of the child.
    enum ParentStep: CaseIterable, Sendable {
        case nothing, undo, undoAndChange, save
    }

    private static let cases = StoreKind.allCases.flatMap { kind in ParentStep.allCases.map { (kind, $0) } }

    private struct Scene {
        let store: TestStore
        let parent: ManagedObjectContext
        let book: ManagedObject
        let child: ManagedObjectContext
        let copy: ManagedObject

        /// The child has deleted its copy of a book with an author, two tags and a chapter, and undone the deletion.
        init(_ kind: StoreKind, _ step: ParentStep) throws {
            store = try TestStore(kind)
            parent = store.context()
            parent.undoManager = UndoManager()
            book = parent.make("Book", ["name": "b", "pages": 1])
            book[one: "author"] = parent.make("Author", ["name": "a"])
            book[many: "tags"] = ["x", "y"].map { [parent] in parent.make("Tag", ["name": .text($0)]) }
            book[many: "chapters"] = [parent.make("Chapter", ["name": "1"])]
            try parent.save()
            parent.undoManager?.removeAllActions()
            child = ManagedObjectContext(parent: parent)
            child.undoManager = UndoManager()
            copy = try child.one("Book")
            child.delete(copy)
            try child.save()
            switch step {
            case .nothing: break
            case .undo: parent.undo()
            case .undoAndChange:
                parent.undo()
                book["pages"] = 2
            case .save: try parent.save()
            }
            #expect(book.isObjectDeleted == (step == .nothing || step == .save))
            child.undo()
            #expect(!copy.isObjectDeleted)
        }

        /// Saves both contexts and returns the stored book.
        func save(into context: ManagedObjectContext) throws -> ManagedObject {
            try child.save()
            try parent.save()
            #expect(try store.problems() == [])
            return try context.one("Book")
        }
    }

    @Test(arguments: cases)
    func `the parent saves the book under its identifier`(place: (kind: StoreKind, step: ParentStep)) throws {
        let scene = try Scene(place.kind, place.step)
        let context = scene.store.context()
        let stored = try scene.save(into: context)
        #expect(stored.managedObjectID == scene.copy.managedObjectID)
        #expect(stored["name"] == "b")
        #expect(stored[one: "author"]?["name"] == "a")
        #expect(stored[many: "tags"].names == ["x", "y"])
        #expect(stored[many: "chapters"].names == ["1"])
        #expect(!scene.book.isObjectDeleted)
    }

    @Test(arguments: cases)
    func `an object without relationships has the values of the child`(
        place: (kind: StoreKind, step: ParentStep)
    ) throws {
        let store = try TestStore(place.kind)
        let parent = store.context()
        parent.undoManager = UndoManager()
        let author = parent.make("Author", ["name": "a", "born": 1])
        try parent.save()
        let child = ManagedObjectContext(parent: parent)
        child.undoManager = UndoManager()
        let copy = try child.one("Author")
        child.delete(copy)
        try child.save()
        switch place.step {
        case .nothing: break
        case .undo: parent.undo()
        case .undoAndChange:
            parent.undo()
            author["born"] = 2
        case .save: try parent.save()
        }
        child.undo()
        copy["name"] = "new"
        try child.save()
        try parent.save()
        let stored = try store.context().one("Author")
        #expect(stored.managedObjectID == copy.managedObjectID)
        #expect(stored["name"] == "new")
        #expect(stored["born"] == 1)
        #expect(try store.problems() == [])
    }

    @Test(arguments: cases)
    func `members that the child has removed since stay removed`(place: (kind: StoreKind, step: ParentStep)) throws {
        let scene = try Scene(place.kind, place.step)
        scene.copy["name"] = "new"
        scene.copy[many: "tags"] = scene.copy[many: "tags"].filter { $0["name"] == "y" }
        scene.copy[one: "author"] = nil
        let context = scene.store.context()
        let stored = try scene.save(into: context)
        #expect(stored["name"] == "new")
        #expect(stored[one: "author"] == nil)
        #expect(stored[many: "tags"].names == ["y"])
        #expect(try context.all("Tag").filter { !$0[many: "books"].isEmpty }.count == 1)
    }
}
