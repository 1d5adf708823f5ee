// swift-format-ignore-file
// The Swift code of README.md, line by line: a test compares.

import Foundation
import ObjectGraph
import SealedData
import SealedStore

@Model final class Book {
    var title: String
    var author: Author?
    init(title: String, author: Author?) { (self.title, self.author) = (title, author) }
}

@Model final class Author {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
    init(name: String) { self.name = name }
}

/// The statements, which the page shows one after the other.
func runReadme(write: (String, String) -> Void) throws {
    func print(_ first: String, _ second: String = "") { write(first, second) }
    defer { EncryptionKey.provider = nil }

    let url = URL.temporaryDirectory.appending(path: "\(UUID().uuidString).sealed")
    let container = try ModelContainer(
        for: Book.self, Author.self,
        configurations: ModelConfiguration(url: url, key: .passphrase("correct horse battery staple")))
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) } }

    let randomBytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let rawKey = try EncryptionKey.raw(randomBytes)
    _ = rawKey

    EncryptionKey.provider = { configuration in
        ProcessInfo.processInfo.environment["BOOKS_PASSPHRASE"].map { .passphrase($0) }
    }

    let context = ModelContext(container)
    let soseki = Author(name: "Natsume Sōseki")
    context.insert(Book(title: "Kokoro", author: soseki))
    context.insert(Book(title: "Botchan", author: soseki))
    try context.save()

    var descriptor = FetchDescriptor<Book>(
        predicate: #Predicate { $0.author?.name == "Natsume Sōseki" && $0.title.starts(with: "K") },
        sortBy: [SortDescriptor(\.title)])
    descriptor.fetchLimit = 10
    for book in try context.fetch(descriptor) {
        print(book.title, book.author?.name ?? "")
    }

    SealedStore.register()
    let description = PersistentStoreDescription(
        type: SealedStore.storeType, url: url, isReadOnly: true,
        options: [SealedStore.keyOption: "correct horse battery staple"])
    let model = try SealedStore.model(of: description)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(description)
    let graph = ManagedObjectContext(coordinator: coordinator)
    if let entity = model.entitiesByName["Book"] {
        for book in try graph.fetch(FetchRequest(entity), as: ManagedObject.self) {
            if case .text(let title) = book["title"] { print(title) }
        }
    }
}
