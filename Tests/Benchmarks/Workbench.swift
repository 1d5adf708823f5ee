import EncryptedSQLite
import Foundation
import SealedData

/// The files of the measured operations, opened by both sides.
struct Workbench {
    let folder: URL
    /// The number of items, tickets and books each; there are a tenth as many authors.
    let rows: Int
    let key = (0..<32).map { UInt8($0) }
    /// A file with all models.
    let file: URL
    /// The file, open.
    let container: ModelContainer
    /// The file, opened by handwritten code.
    let byHand: HandWrittenDatabase
    /// A further connection to the file, for work that neither side measures.
    private let aside: Database

    init(in folder: URL, rows: Int) throws {
        self.folder = folder
        self.rows = rows
        file = folder.appending(path: "items.store")
        container = try Self.open(file, .raw(key))
        let context = ModelContext(container)
        for number in 0..<rows { context.insert(Item(number: number)) }
        for number in 0..<rows { context.insert(Ticket(number: number)) }
        var author = Author(number: 0)
        for number in 0..<rows {
            if number % 10 == 0 { author = Author(number: number) }
            context.insert(Book(number: number, author: author))
        }
        try context.save()
        byHand = try HandWrittenDatabase(file, .raw(key), creates: false)
        aside = try Self.furtherConnection(to: file, key)
    }

    /// Opens a connection for work that neither side measures.
    static func furtherConnection(to file: URL, _ key: [UInt8]) throws -> Database {
        // The identification of the store's file format, without which the file is refused.
        let options = Database.Options(readerCount: 1, applicationID: 0x5345_414C, newestUserVersion: 1)
        return try Database(.file(file.path), key: .raw(key), options: options)
    }

    /// Ends the read transactions on the file that no thread uses.
    func endIdleTransactions() throws { try aside.writeWithoutTransaction { _ in } }

    static func open(_ file: URL, _ key: EncryptionKey) throws -> ModelContainer {
        try ModelContainer(
            for: Item.self,
            Ticket.self,
            Author.self,
            configurations: ModelConfiguration(url: file, key: key)
        )
    }

    func open(_ file: URL) throws -> ModelContainer { try Self.open(file, .raw(key)) }

    /// Opens a file that contains a class and the classes of its relationships.
    func open(_ file: URL, for model: any PersistentModel.Type) throws -> ModelContainer {
        try ModelContainer(for: model, configurations: ModelConfiguration(url: file, key: .raw(key)))
    }

    /// Calls `body` with a path without a file, and removes the file afterwards: otherwise the machine's memory fills
    /// with files, at the cost of the side that allocates next.
    func withNewFile<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appending(path: "new.store"))
    }

    /// Calls `body` with a copy of a closed file.
    func withCopy<R>(of file: URL, _ body: (URL) throws -> R) throws -> R {
        try withNewFile { copy in
            try FileManager.default.copyItem(at: file, to: copy)
            return try body(copy)
        }
    }
}
