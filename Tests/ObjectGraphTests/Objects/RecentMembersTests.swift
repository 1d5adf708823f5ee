import ObjectGraph
import Testing

/// Deletions of members of a large relationship while its array is kept for the next read.
@Suite struct RecentMembersTests {
    private let store: TestStore
    private let context: ManagedObjectContext
    private let author: ManagedObject

    init() throws {
        store = try TestStore(.reference)
        context = store.context()
        author = context.make("Author", ["name": "Kawabata"])
        author[many: "books"] = (0..<300).map { ManagedObject.make(store.model, "Book", ["name": .text("\($0)")]) }
        try context.save()
    }

    private var slot: Int { author.entity.relationship(named: "books")!.slot }

    private func books() -> [ManagedObject] { author.memberObjects(at: slot, as: ManagedObject.self) }

    /// The members as a context that keeps no array reads them.
    private func expected() -> [ManagedObject] { author.memberObjects(at: slot).compactMap { $0 as? ManagedObject } }

    private func address(of books: [ManagedObject]) -> UInt {
        books.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private func removeFirst() -> ManagedObject {
        var books = author.takeMembers(at: slot, as: ManagedObject.self)
        let first = books.removeFirst()
        author.putMembers(books, at: slot)
        return first
    }

    @Test func `a deletion of an object that has left the array keeps the array`() throws {
        _ = books()
        context.delete(removeFirst())
        let before = address(of: books())
        for _ in 0..<20 { context.delete(removeFirst()) }
        #expect(books() === expected())
        #expect(books().count == 279)
        #expect(address(of: books()) == before)
        try context.save()
        #expect(try store.context().all("Book").count == 279)
    }

    @Test(arguments: [false, true])
    func `an array without a deleted member contains the members`(isUndone: Bool) throws {
        context.undoManager = isUndone ? UndoManager() : nil
        var generator = SeededGenerator(seed: 7)
        var deleted: [ManagedObject] = []
        for _ in 0..<60 {
            let books = books()
            #expect(books === expected())
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let gone = books.shuffled(using: &generator).prefix(3)
                gone.forEach(context.delete)
                deleted += gone
            case 1: if let last = deleted.popLast() { context.insert(last) }
            case 2:
                let book = books.randomElement(using: &generator)!
                author.removeMember(book, at: slot)
                if Bool.random(using: &generator) { author.addMember(book, at: slot) }
                if Bool.random(using: &generator) { context.delete(book) }
            case 3: author.setMembers(Array(books.dropFirst(2)), at: slot)
            case 4: author.setMembers(books + deleted.filter { !$0.isObjectDeleted }.suffix(1), at: slot)
            default:
                let book = books.randomElement(using: &generator)!
                context.delete(book)
                deleted.append(book)
            }
            if isUndone, Int.random(in: 0..<4, using: &generator) == 0 { context.undoManager?.undo() }
        }
        #expect(books() === expected())
        try context.save()
        let fresh = store.context()
        #expect(try fresh.one("Author")[many: "books"].count == expected().count)
    }
}
