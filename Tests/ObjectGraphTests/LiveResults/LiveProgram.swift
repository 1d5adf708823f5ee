@testable import ObjectGraph
import TestSupport

/// Changes by three writers: the context of the results, another context of its coordinator, and a context of another
/// coordinator on the same file.
struct LiveProgram: CustomStringConvertible {
    enum Act: CaseIterable {
        case insertBook, insertAuthor, insertAgain, setPages, rename, setAuthor, setFriend, setReaders, setMembers
        case deleteBook, deleteAuthor
        case save, rollback, undo, redo, process, refresh, release
        /// The next update of a result saves or changes the query of a result.
        case saveInCallback, setQueryInCallback
        case check
    }

    struct Step: CustomStringConvertible {
        let act: Act
        /// The number of the context; the results belong to context 0.
        let writer: Int
        /// Choose objects and values.
        let first: Int
        let second: Int

        var description: String { "\(act) in \(writer) (\(first), \(second))" }
    }

    var steps: [Step]
    /// The numbers of the requests whose results are followed.
    var requests: [Int]

    /// Makes a random program.
    ///
    /// - Parameter interval: The number of steps between two checks.
    init(_ random: inout SeededGenerator, steps count: Int, checkingAfter interval: Int) {
        requests = Array(0..<World.requestCount).shuffled(using: &random).prefix(4).sorted()
        steps = []
        for number in 1...count {
            let act =
                random.chance(12)
                ? .save : random.chance(8) ? .undo : random.pick(Act.allCases.filter { $0 != .check }) ?? .process
            let writer = random.chance(60) ? 0 : Int.random(in: 1...2, using: &random)
            steps.append(
                Step(
                    act: act,
                    writer: writer,
                    first: Int.random(in: 0..<60, using: &random),
                    second: Int.random(in: 0..<60, using: &random)
                )
            )
            // The other writers' changes matter after their save.
            if writer > 0, random.chance(60) { steps.append(Step(act: .save, writer: writer, first: 0, second: 0)) }
            if number % interval == 0 { steps.append(Step(act: .check, writer: 0, first: 0, second: 0)) }
        }
    }

    var description: String {
        "requests \(requests)\n" + steps.map(\.description).joined(separator: "\n")
    }

    /// The first difference between a result and a fetch; nil without one.
    func difference() throws -> String? {
        let world = try World(requests)
        for step in steps {
            if let difference = try world.perform(step) { return difference }
        }
        return nil
    }

    /// The program without the steps and requests that its difference does not need.
    func shrunk() throws -> LiveProgram {
        var smallest = self
        var size = max(steps.count / 2, 1)
        while true {
            var start = 0
            while start < smallest.steps.count {
                var candidate = smallest
                candidate.steps.removeSubrange(start..<min(start + size, candidate.steps.count))
                if try candidate.difference() != nil { smallest = candidate } else { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
        for request in smallest.requests where smallest.requests.count > 1 {
            var candidate = smallest
            candidate.requests.removeAll { $0 == request }
            if try candidate.difference() != nil { smallest = candidate }
        }
        return smallest
    }
}

extension LiveProgram {
    /// The contexts and results of a run.
    private final class World {
        static let requestCount = 18

        static let model = Fixtures.model(
            EntityDescription(
                "Author",
                attributes: [.init("name", .string, isOptional: true)],
                relationships: [
                    .init("books", to: "Book", .many, inverse: "author"),
                    .init("owned", to: "Book", .many, inverse: "owner", deleteRule: .cascade),
                    .init("edited", to: "Book", .many, inverse: "editor", deleteRule: .deny),
                    .init("ignored", to: "Book", .many, inverse: "ignoring", deleteRule: .noAction),
                ]
            ),
            EntityDescription(
                "Book",
                attributes: [.init("name", .string, isOptional: true), .init("pages", .int64, isOptional: true)],
                relationships: [
                    .init("author", to: "Author", .one, inverse: "books"),
                    .init("owner", to: "Author", .one, inverse: "owned"),
                    .init("editor", to: "Author", .one, inverse: "edited"),
                    .init("ignoring", to: "Author", .one, inverse: "ignored"),
                    // Without inverse relationships.
                    .init("favourite", to: "Author", .one),
                    .init("friend", to: "Book", .one),
                    .init("readers", to: "Author", .many),
                ]
            )
        )

        private static let toAuthors = ["author", "owner", "editor", "ignoring", "favourite"]

        /// An object that steps choose: its identifier, and the object unless it was released.
        private struct Candidate {
            let id: ManagedObjectID
            var object: ManagedObject?
        }

        private let store: TestStore
        private let contexts: [ManagedObjectContext]
        private var candidates: [[String: [Candidate]]] = Array(repeating: [:], count: 3)
        private var followed: [FollowedResults] = []
        private var nextCallback: (() -> Void)?
        private var count = 0

        init(_ requests: [Int]) throws {
            store = try TestStore(.sealed, Self.model)
            let outside = try store.anotherCoordinator()
            contexts = [store.context(), store.context(), ManagedObjectContext(coordinator: outside)]
            for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
            let authors = (0..<3).map { _ in insert("Author", in: 0) }
            for index in 0..<4 {
                let book = insert("Book", in: 0)
                book["pages"] = .integer(Int64(index))
                for (offset, name) in Self.toAuthors.enumerated() where (index + offset) % 3 > 0 {
                    book[one: name] = authors[(index * offset) % 3]
                }
                book[one: "friend"] = candidates[0]["Book"]?[index / 2].object
                book[many: "readers"] = [authors[index % 3]]
            }
            try contexts[0].save()
            share()
            contexts[0].undoManager = UndoManager()
            contexts[1].undoManager = UndoManager()
            followed = try requests.map { try FollowedResults(request($0), in: contexts[0]) }
            for results in followed {
                results.onUpdate = { [unowned self] in
                    guard let callback = nextCallback else { return }
                    nextCallback = nil
                    callback()
                }
            }
        }

        private func request(_ number: Int) -> FetchRequest {
            let context = contexts[0]
            let book = Self.model.entitiesByName["Book"]!
            let author = Self.model.entitiesByName["Author"]!
            func path(_ name: String) -> QueryExpression { .path(book.propertiesByName[name]!) }
            func name(of relationship: String, _ entity: Entity) -> QueryExpression {
                .path(book.propertiesByName[relationship]!, entity.propertiesByName["name"]!)
            }
            let pages = QuerySort(path("pages"))
            let readers = CollectionSource.members(from: 0, [book.propertiesByName["readers"]!])
            let books = CollectionSource.members(from: 0, [author.propertiesByName["books"]!])
            let isRead = QueryExpression.quantified(.any, readers, variable: 1, condition: .literal(.integer(1)))
            switch number % Self.requestCount {
            case 0: return context.request("Book", sortedBy: [pages])
            case 1: return context.request("Book", where: path("pages") < 5, sortedBy: [QuerySort(path("name"))])
            case 2..<7: return context.request("Book", where: path(Self.toAuthors[number - 2]) == .null)
            case 7: return context.request("Book", where: path("friend") != .null, sortedBy: [pages])
            case 8:
                let named = name(of: "owner", author) < .text("7")
                return context.request("Book", where: named, sortedBy: [QuerySort(name(of: "author", author))])
            case 9: return context.request("Book", sortedBy: [QuerySort(name(of: "friend", book))])
            case 10: return context.request("Book", where: isRead)
            case 11:
                return context.request("Author", sortedBy: [QuerySort(.count(books, variable: 1)), byName(author)])
            case 12, 13:
                var limited = context.request(
                    "Book",
                    where: number == 12 ? path("editor") != .null : nil,
                    sortedBy: [QuerySort(path("pages"), ascending: false)]
                )
                limited.limit = 2
                return limited
            case 14:
                var windowed = context.request("Book", where: path("favourite") != .null, sortedBy: [pages])
                windowed.offset = 1
                windowed.limit = 2
                return windowed
            case 15:
                var saved = context.request("Book", where: path("author") == .null, sortedBy: [pages])
                saved.includesPendingChanges = false
                return saved
            case 16: return context.request("Author")
            default: return context.request("Book", where: .not(path("ignoring") == .null), sortedBy: [pages])
            }
        }

        private func byName(_ author: Entity) -> QuerySort { QuerySort(.path(author.propertiesByName["name"]!)) }

        // MARK: Objects

        @discardableResult
        private func insert(_ entity: String, in writer: Int) -> ManagedObject {
            count += 1
            let object = contexts[writer].make(entity, ["name": .text("\(count % 10) \(count)")])
            candidates[writer][entity, default: []].append(Candidate(id: object.managedObjectID, object: object))
            return object
        }

        /// Lets each writer choose the objects that others have saved.
        private func share() {
            for writer in contexts.indices {
                for (entity, list) in candidates[writer] {
                    for case let object? in list.map(\.object) where !object.managedObjectID.isTemporary {
                        let id = object.managedObjectID
                        for other in contexts.indices where other != writer {
                            let isKnown = candidates[other][entity]?.contains {
                                ($0.object?.managedObjectID ?? $0.id) == id
                            }
                            if isKnown ?? false { continue }
                            candidates[other][entity, default: []].append(Candidate(id: id))
                        }
                    }
                }
            }
        }

        /// An object that a number chooses; nil if it is deleted, or there is none.
        private func choose(
            _ entity: String,
            _ number: Int,
            in writer: Int,
            deleted: Bool = false
        ) throws -> ManagedObject? {
            let list = candidates[writer][entity] ?? []
            guard !list.isEmpty else { return nil }
            let index = number % list.count
            let found = try list[index].object ?? contexts[writer].existingObject(with: list[index].id)
            guard let object = found as? ManagedObject, object.managedObjectContext === contexts[writer] else {
                return nil
            }
            candidates[writer][entity]?[index].object = object
            return object.isObjectDeleted == deleted ? object : nil
        }

        // MARK: Steps

        /// Performs a step.
        ///
        /// - Returns: the difference that a check finds.
        func perform(_ step: Step) throws -> String? {
            let (writer, first, second) = (step.writer, step.first, step.second)
            let context = contexts[writer]
            func book() throws -> ManagedObject? { try choose("Book", first, in: writer) }
            /// The author that the second number chooses; nil for some numbers.
            func author() throws -> ManagedObject? {
                second % 4 == 0 ? nil : try choose("Author", second / 4, in: writer)
            }
            switch step.act {
            case .insertBook:
                let book = insert("Book", in: writer)
                book["pages"] = .integer(Int64(first % 8))
                book[one: Self.toAuthors[first % 5]] = try author()
                book[one: "friend"] = try choose("Book", second, in: writer)
            case .insertAuthor: insert("Author", in: writer)
            case .insertAgain:
                let entity = second % 2 == 0 ? "Book" : "Author"
                if let object = try choose(entity, first, in: writer, deleted: true) { context.insert(object) }
            case .setPages: try book()?["pages"] = .integer(Int64(second % 8))
            case .rename:
                let entity = second % 2 == 0 ? "Book" : "Author"
                try choose(entity, first, in: writer)?["name"] = .text("\(second % 10)")
            case .setAuthor: try book()?[one: Self.toAuthors[second % 5]] = try author()
            case .setFriend:
                try book()?[one: "friend"] = second % 3 == 0 ? nil : try choose("Book", second, in: writer)
            case .setReaders: try book()?[many: "readers"] = [try author()].compactMap(\.self)
            case .setMembers:
                let name = ["books", "owned", "edited", "ignored"][second % 4]
                try choose("Author", first, in: writer)?[many: name] =
                    [try choose("Book", second / 4, in: writer)].compactMap(\.self)
            case .deleteBook: if let book = try book() { context.delete(book) }
            case .deleteAuthor: if let author = try choose("Author", first, in: writer) { context.delete(author) }
            case .save: save(writer, keepsChanges: first % 4 == 1)
            case .rollback: context.rollback()
            case .undo: if context.undoManager?.canUndo ?? false { context.undoManager?.undo() }
            case .redo: if context.undoManager?.canRedo ?? false { context.undoManager?.redo() }
            case .process: context.processPendingChanges()
            case .refresh:
                if second % 3 == 0 {
                    context.refreshAllObjects()
                } else if let book = try book() {
                    context.refresh(book, mergeChanges: second % 3 == 1)
                }
            case .release: release(writer)
            case .saveInCallback: nextCallback = { [unowned self] in save(0, keepsChanges: true) }
            case .setQueryInCallback:
                let (results, request) = (followed[first % followed.count], request(second % Self.requestCount))
                nextCallback = { [unowned self] in results.setRequest(request, in: contexts[0]) }
            case .check: return try difference()
            }
            return nil
        }

        private func save(_ writer: Int, keepsChanges: Bool) {
            do {
                try contexts[writer].save()
            } catch {
                if !keepsChanges { contexts[writer].rollback() }
            }
            share()
            if writer == 2 { store.coordinator.announce(.unknown(.others)) } else { contexts[2].refreshAllObjects() }
        }

        /// Releases the objects without changes.
        private func release(_ writer: Int) {
            for (entity, list) in candidates[writer] {
                candidates[writer][entity] = list.map { candidate in
                    guard let object = candidate.object, !object.hasChanges, !object.isObjectDeleted else {
                        return candidate
                    }
                    return Candidate(id: object.managedObjectID)
                }
            }
        }

        private func difference() throws -> String? {
            nextCallback = nil
            contexts[0].processPendingChanges()
            // The first one may only record that objects are missing.
            contexts[0].processPendingChanges()
            let shown = followed.map { ($0.objects, $0.applied, $0.results.error) }
            for (results, shown) in zip(followed, shown) {
                let fetched: [ManagedObject] = try contexts[0].fetch(results.results.query.request)
                if let error = shown.2 { return "\(error)" }
                guard shown.0 === fetched, shown.1 === fetched else {
                    return """
                        \(results.results.query.request.predicate.map { "\($0)" } ?? "all"): results \
                        \(shown.0.texts("name")), applied \(shown.1.texts("name")), fetched \(fetched.texts("name"))
                        """
                }
            }
            return nil
        }
    }
}
