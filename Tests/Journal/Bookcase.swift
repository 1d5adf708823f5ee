import Dispatch
import EncryptedSQLite
package import Foundation
package import ObjectGraph
package import SealedStore
package import TestSupport

/// A store of shelves and books, which a process changes while its test follows the changes.
package enum Bookcase {
    package static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf",
                attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "shelf")]
            ),
            EntityDescription(
                "Book",
                attributes: [AttributeDescription("title", .string), AttributeDescription("number", .int64)],
                relationships: [RelationshipDescription("shelf", to: "Shelf", .one, inverse: "books")]
            ),
        ])
    }

    package static func open(_ url: URL, history: HistoryOptions? = nil) throws -> ManagedObjectContext {
        ManagedObjectContext(coordinator: try openCoordinator(url, model: model(), history: history))
    }

    /// The objects of an entity, by their first attribute.
    package static func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
        let entity = context.model.entitiesByName[entity]!
        return try context.fetch(FetchRequest(entity, sort: [QuerySort(.path(entity.properties[0]))]))
    }

    // MARK: Changes

    @discardableResult
    package static func insertBook(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject {
        let book = ManagedObject(entity: context.model.entitiesByName["Book"]!, insertInto: context)
        book["title"] = .text("book \(number)")
        book["number"] = .integer(Int64(number))
        book.setDestination(try all("Shelf", in: context).first, forRelationship: "shelf")
        return book
    }

    @discardableResult
    package static func insertShelf(_ name: String, in context: ManagedObjectContext) -> ManagedObject {
        let shelf = ManagedObject(entity: context.model.entitiesByName["Shelf"]!, insertInto: context)
        shelf["name"] = .text(name)
        return shelf
    }

    /// Deletes the books with at least a number by a batch request.
    package static func deleteBooks(from number: Int, in context: ManagedObjectContext) throws {
        let book = context.model.entitiesByName["Book"]!
        let numbers = QueryExpression.path(book.propertiesByName["number"]!)
        let condition = QueryExpression.comparison(.greaterOrEqual, numbers, .literal(.integer(Int64(number))))
        _ = try context.execute(BatchDeleteRequest(book, predicate: condition))
    }

    /// Makes a few random changes.
    package static func change(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let books = try all("Book", in: context)
            let shelves = try all("Shelf", in: context)
            let number = Int.random(in: 0..<20, using: &random)
            guard let book = random.pick(books), !random.chance(30) else {
                try insertBook(number, in: context)
                continue
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: context.delete(book)
            case 1: book["title"] = .text("book \(number)")
            case 2: book["number"] = .integer(Int64(number))
            case 3: book.setDestination(random.chance(30) ? nil : random.pick(shelves), forRelationship: "shelf")
            default: random.pick(shelves)?["name"] = .text("shelf \(number)")
            }
        }
    }

    /// Saves, or drops the changes if another context has deleted their objects.
    package static func save(_ context: ManagedObjectContext) throws {
        do {
            try context.save()
        } catch is ObjectGraphError {
            context.rollback()
        }
    }

    // MARK: Commands

    /// Carries out commands, one a line, and acknowledges each after its commit.
    ///
    /// - `insert NUMBER`: Inserts a book on the first shelf.
    /// - `rename OLD NEW`: Gives the book with a number the title of another one.
    /// - `delete NUMBER`: Deletes the books with a number.
    /// - `discard NUMBER`: Deletes the shelf at a position, in the order of the names.
    /// - `burst COUNT`: Inserts books with one save each.
    /// - `random SEED`: Makes random changes.
    /// - `timed NUMBER`: As `insert`, acknowledged with the time after the commit, in nanoseconds of the system's
    ///   monotonic clock.
    /// - `rekey BYTE`: Changes the key.
    /// - `erase NUMBER`: Deletes the books with at least a number by a batch request.
    /// - `trim`: Deletes the history.
    /// - `restart NUMBER`: Inserts a book while the store has no history, and begins a new history.
    package static func obey(_ url: URL, acknowledge: (String) -> Void) throws {
        // The model in the file: a test may have created the store for its model classes.
        let context = try ManagedObjectContext(coordinator: openRecordedModel(url))
        context.mergePolicy = .mergeByPropertyObjectTrump
        acknowledge("ready\n")
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            switch (words.first, numbers.first) {
            case ("insert", let number?):
                try insertBook(number, in: context)
                try context.save()
            case ("timed", let number?):
                try insertBook(number, in: context)
                try context.save()
                acknowledge("\(DispatchTime.now().uptimeNanoseconds)\n")
                continue
            case ("rename", let number?):
                for book in try all("Book", in: context) where book["number"] == .integer(Int64(number)) {
                    book["title"] = .text("book \(numbers.last ?? 0)")
                }
                try context.save()
            case ("delete", let number?):
                for book in try all("Book", in: context) where book["number"] == .integer(Int64(number)) {
                    context.delete(book)
                }
                try context.save()
            case ("discard", let position?):
                context.delete(try all("Shelf", in: context)[position])
                try context.save()
            case ("burst", let count?):
                for number in 0..<count {
                    try insertBook(1000 + number, in: context)
                    try context.save()
                }
            case ("random", let seed?):
                var random = SeededGenerator(seed: UInt64(seed))
                try change(context, &random)
                try save(context)
            case ("rekey", let byte?):
                for store in context.coordinator.sealedStores {
                    try store.changeKey(to: .raw(Array(repeating: UInt8(byte), count: 32)))
                }
            case ("erase", let number?):
                try deleteBooks(from: number, in: context)
            case ("trim", nil): try context.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max)))
            case ("restart", let number?):
                for store in context.coordinator.sealedStores { try store.removeHistory() }
                try insertBook(number, in: context)
                try context.save()
                try open(url, history: HistoryOptions()).coordinator.removeAllStores()
            default: acknowledge("unknown command\n")
            }
            acknowledge("done\n")
        }
    }

    // MARK: Resources

    /// Follows a store and ends following in all ways, and writes the number of the process's descriptors after the
    /// first round and after the last one, which must be equal.
    package static func followRepeatedly(_ url: URL, acknowledge: (String) -> Void) throws {
        let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
        for round in 0..<12 {
            var following: [CommitSubscription] = []
            let contexts = try (0..<3).map { _ in try open(url) }
            for context in contexts { following.append(context.coordinator.followOtherProcesses()) }
            try insertBook(round, in: contexts[0])
            try contexts[0].save()
            for store in contexts[0].coordinator.sealedStores {
                store.lock()
                try store.unlock(with: key)
                store.suspend()
                try store.resume()
                try store.changeKey(to: key)
            }
            let watched = descriptors(to: "inotify")
            // The first ends before its store is closed, the second by the closing, and the third with its context.
            following.removeFirst()
            for context in contexts { try context.coordinator.removeAllStores() }
            following = []
            // The queue of the events closes the descriptor.
            var attempts = 0
            while descriptors(to: "inotify") > 0, attempts < 100_000 {
                attempts += 1
                sched_yield()
            }
            acknowledge("\(watched) \(descriptors(to: "inotify")) \(descriptors(to: ""))\n")
        }
    }

    /// The number of open descriptors to files whose name contains a text.
    private static func descriptors(to text: String) -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name) else {
                return false
            }
            return text.isEmpty || target.contains(text)
        }
    }
}
