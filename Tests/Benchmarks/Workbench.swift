import Foundation
import SealedData

/// The files that the operations are measured on, and how both sides open them.
struct Workbench {
    let folder: URL
    /// How many items, tickets and books there are; of authors there are a tenth.
    let rows: Int
    let key = (0..<32).map { UInt8($0) }
    /// A file with all models.
    let file: URL
    /// The file, open.
    let container: ModelContainer
    /// The file, open by hand.
    let byHand: HandWrittenDatabase

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
    }

    static func open(_ file: URL, _ key: EncryptionKey) throws -> ModelContainer {
        try ModelContainer(
            for: Item.self,
            Ticket.self,
            Author.self,
            configurations: ModelConfiguration(url: file, key: key)
        )
    }

    func open(_ file: URL) throws -> ModelContainer { try Self.open(file, .raw(key)) }

    /// Calls `body` with a file that is not there yet, and removes it afterwards: else the machine's memory fills with
    /// files, and whichever side needs fresh memory pays for it.
    func withNewFile<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appending(path: "new.store"))
    }

    /// Calls `body` with a copy of a file that nobody has open.
    func withCopy<R>(of file: URL, _ body: (URL) throws -> R) throws -> R {
        try withNewFile { copy in
            try FileManager.default.copyItem(at: file, to: copy)
            return try body(copy)
        }
    }
}
