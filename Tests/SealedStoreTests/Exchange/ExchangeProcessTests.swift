import EncryptedSQLite
import Foundation
import Journal
import ObjectGraph
import SealedStore
import TestSupport
import Testing

/// Exchanges of processes that share a store, are killed, or change its key.
@Suite struct ExchangeProcessTests {
    private let folder = TemporaryFolder()

    private func open(_ url: URL) throws -> ManagedObjectContext {
        try Bookcase.open(url, history: HistoryOptions(identifiesObjects: true))
    }

    /// The titles of all books by their numbers and global identifiers.
    private func content(_ context: ManagedObjectContext) throws -> [String: String] {
        let store = try context.coordinator.sealedStore
        var content: [String: String] = [:]
        for book in try Bookcase.all("Book", in: ManagedObjectContext(coordinator: context.coordinator)) {
            let identifier = try #require(try store.globalIdentifier(of: book.managedObjectID))
            content["\(book["number"]) \(identifier)"] = "\(book["title"])"
        }
        return content
    }

    // two processes of the first store, one of the second | test
    // save, make change sets, append, apply               |
    // save, make change sets, append, apply               | kills one of them, starts another one
    // (end)                                               | opens both stores, exchanges the rest
    @Test func `processes that share stores and are killed lose no save and exchange each once`() throws {
        let log = folder.url.appending(path: "log")
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        let stores = [folder.file("first.store"), folder.file("second.store")]
        for url in stores { try open(url).coordinator.removeAllStores() }
        var random = SeededGenerator()
        var acknowledged: Set<Int> = []
        var running: [WriterProcess] = []
        func kill(_ process: WriterProcess) {
            #expect(process.end() == SIGKILL, "\(random)")
            acknowledged.formUnion(process.output.split(separator: "\n").compactMap { Int($0) })
        }
        for round in 0..<killCount(12) {
            let url = stores[round % 3 == 0 ? 1 : 0]
            running.append(try WriterProcess(url, "exchange", log.path, "\(1000 * (round + 1))"))
            guard running.count > 2 else { continue }
            let victim = running.remove(at: Int.random(in: 0..<running.count, using: &random))
            victim.waitForLines(Int.random(in: 1...6, using: &random))
            kill(victim)
        }
        running.forEach(kill)

        let contexts = try stores.map(open)
        let order = ExchangeFolder(log)
        for context in contexts + contexts { try order.exchange(context.coordinator) }
        let contents = try contexts.map(content)
        #expect(contents[0] == contents[1], "\(random)")
        let numbers = try Bookcase.all("Book", in: contexts[0]).map { $0["number"] }
        #expect(Set(numbers).count == numbers.count, "a change set was applied twice: \(random)")
        #expect(Set(numbers).isSuperset(of: acknowledged.map { .integer(Int64($0)) }), "\(random)")
        for context in contexts {
            #expect(try context.coordinator.changeSet() == nil)
            #expect(try context.coordinator.sealedStore.check() == [])
        }
        print("exchanged: \(acknowledged.count) saves, \(random)")
    }

    // exchanging thread                | test
    // saves, makes, appends, applies   | changes the key
    // saves, makes, appends, applies   | changes the key
    @Test func `the key of a store changes during its exchange`() async throws {
        let log = folder.url.appending(path: "log")
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        let (first, second) = (folder.file("first.store"), folder.file("second.store"))
        let store: SealedStore
        do {
            let coordinator = try open(first).coordinator
            store = try coordinator.sealedStore
            let exchange = Task.detached {
                let context = ManagedObjectContext(coordinator: coordinator)
                let order = ExchangeFolder(log)
                var number = 0
                while !Task.isCancelled || number < 20 {
                    try Bookcase.insertBook(number, in: context)
                    try context.save()
                    try order.exchange(coordinator)
                    number += 1
                }
                return number
            }
            for byte in [1, 2, 3, 4, 7] as [UInt8] {
                try store.changeKey(to: .raw(Array(repeating: byte, count: 32)))
            }
            exchange.cancel()
            let count = try await exchange.value
            #expect(try Bookcase.all("Book", in: ManagedObjectContext(coordinator: coordinator)).count == count)
            #expect(try store.check() == [])
            try coordinator.removeAllStores()
        }
        let contexts = try [open(first), open(second)]
        for context in contexts { try ExchangeFolder(log).exchange(context.coordinator) }
        #expect(try content(contexts[0]) == content(contexts[1]))
        for context in contexts {
            #expect(try context.coordinator.changeSet() == nil)
            #expect(try context.coordinator.sealedStore.check() == [])
        }
    }

    @Test func `changes from before a migration are exchanged after it`() throws {
        let urls = [folder.file("first.store"), folder.file("second.store")]
        let log = ChangeLog()
        do {
            let branches = try urls.map { try Branch($0) }
            let kept = try branches[0].insert("Party", ["code": "a"])
            let deleted = try branches[0].insert("Party", ["code": "b"])
            for branch in branches { try branch.exchange(log) }
            try branches[0].set(kept, "note", "n")
            try branches[0].delete(deleted)
            try branches[0].insert("Party", ["code": "c"])
            for branch in branches { try branch.coordinator.removeAllStores() }
        }
        var declarations = Branch.declarations()
        let party = try #require(declarations.firstIndex { $0.name == "Party" })
        declarations[party].attributes.append(AttributeDescription("city", .string, isOptional: true))
        let branches = try urls.map { try Branch($0, declarations: declarations) }
        for branch in branches { try branch.exchange(log) }
        let content = try branches[0].content()
        #expect(content.count == 2)
        #expect(try branches[1].content() == content)
        for branch in branches { #expect(try branch.store.check() == []) }
    }

    @Test func `the first changes of an exchange survive a migration that renames their entity`() throws {
        let urls = [folder.file("first.store"), folder.file("second.store")]
        do {
            let unrecorded = try Branch(urls[0], history: nil)
            try unrecorded.insert("Badge", ["number": 1])
            try unrecorded.coordinator.removeAllStores()
            let branch = try Branch(urls[0])
            // The change set is lost.
            #expect(try branch.coordinator.changeSet() != nil)
            try branch.coordinator.removeAllStores()
        }
        var declarations = Branch.declarations()
        for entity in declarations.indices {
            if declarations[entity].name == "Badge" {
                declarations[entity].name = "Medal"
                declarations[entity].renamingIdentifier = "Badge"
            }
            for relationship in declarations[entity].relationships.indices
            where declarations[entity].relationships[relationship].destination == "Badge" {
                declarations[entity].relationships[relationship].destination = "Medal"
            }
        }
        let log = ChangeLog()
        let branches = try urls.map { try Branch($0, declarations: declarations) }
        for branch in branches + branches { try branch.exchange(log) }
        for branch in branches {
            #expect(try branch.count("Medal") == 1)
            #expect(try branch.store.check() == [])
        }
        #expect(try branches[0].content() == branches[1].content())
    }

    // first                           second
    // inserts a, receives             inserts b, receives
    // makes both unique: keeps one    makes both unique: keeps the same one
    // exchanges                       exchanges
    @Test(arguments: [false, true])
    func `stores that merge the same duplicates keep the same object`(keepsLast: Bool) throws {
        let urls = [folder.file("first.store"), folder.file("second.store")]
        var declarations = Branch.declarations()
        let category = try #require(declarations.firstIndex { $0.name == "Category" })
        let log = ChangeLog()
        do {
            let branches = try urls.map { try Branch($0, declarations: declarations) }
            for branch in branches { try branch.insert("Category", ["title": "x"]) }
            for branch in branches + branches { try branch.exchange(log) }
            for branch in branches {
                #expect(try branch.count("Category") == 2)
                try branch.coordinator.removeAllStores()
            }
        }
        declarations[category].uniquenessConstraints = [["title"]]
        let rule = DuplicateRule(entity: "Category", keepsLastInserted: keepsLast)
        let branches = try urls.map { try Branch($0, declarations: declarations, duplicateRules: [rule]) }
        for branch in branches + branches { try branch.exchange(log) }
        for branch in branches {
            #expect(try branch.count("Category") == 1)
            #expect(try branch.store.check() == [])
        }
        #expect(try branches[0].content() == branches[1].content())
    }
}
