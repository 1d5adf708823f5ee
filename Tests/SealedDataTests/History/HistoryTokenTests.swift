import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedData
@testable import SealedStore
import TestSupport
import Testing

@Suite("Tokens of the history") struct HistoryTokenTests {
    typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
    typealias Note = ModelHistoryTests.Plain.Note
    typealias Tag = ModelHistoryTests.Plain.Tag

    private let folder = TemporaryFolder()

    private func configuration(_ name: String, _ schema: Schema? = nil) -> ModelConfiguration {
        var configuration = ModelConfiguration(
            name,
            schema: schema,
            url: folder.file("\(name).store"),
            key: .ofTests
        )
        configuration.history = HistoryOptions()
        return configuration
    }

    private func container(_ name: String = "notes") throws -> ModelContainer {
        try ModelContainer(for: Note.self, configurations: configuration(name))
    }

    /// A container whose notes and tags are in two stores.
    private func pair() throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Note.self, Tag.self]),
            configurations: [configuration("a", Schema([Note.self])), configuration("b", Schema([Tag.self]))]
        )
    }

    private func save(_ models: any PersistentModel..., in context: ModelContext) throws {
        for model in models {
            context.insert(model)
            try context.save()
        }
    }

    private func numbers(_ context: ModelContext, _ descriptor: Descriptor = Descriptor()) throws -> [Int64] {
        try context.fetchHistory(descriptor).map(\.transactionIdentifier)
    }

    private func lastToken(_ context: ModelContext) throws -> DefaultHistoryToken {
        try #require(try context.fetchHistory(Descriptor()).last).token
    }

    private func isExpired(_ context: ModelContext, _ predicate: Predicate<DefaultHistoryTransaction>) -> Bool {
        do {
            _ = try context.fetchHistory(Descriptor(predicate: predicate))
            return false
        } catch {
            return error as? SwiftDataError == .historyTokenExpired
        }
    }

    // MARK: Copies

    // original         | backup                   | a reader
    // saves twice      |                          |
    //                  | is made                  |
    // saves            |                          | has the token of transaction 3
    //                  | replaces the original    |
    //                  | saves three times        | continues
    @Test func `a token has expired in an earlier copy that has overtaken it`() throws {
        let original = ModelContext(try container())
        try save(Note(1), Note(2), in: original)
        let common = try lastToken(original)
        try original.container.backUp(to: folder.file("backup.store"))
        try save(Note(3), in: original)
        let stored = try JSONEncoder().encode(lastToken(original))
        let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: stored)
        let copy = ModelContext(try container("backup"))
        try save(Note(4), Note(5), Note(6), in: copy)
        #expect(isExpired(copy, #Predicate { $0.token > token }))
        #expect(isExpired(copy, #Predicate { $0.token >= token }))
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try copy.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= token }))
        }
        #expect(try numbers(copy, Descriptor(predicate: #Predicate { $0.token > common })).count == 3)
        let observer = try HistoryObserver(
            historyTokens: [token.storeIdentifier: token],
            modelContainer: copy.container,
            isolation: nil
        )
        #expect(observer.eventCounter == 1)
        #expect(try numbers(original, Descriptor(predicate: #Predicate { $0.token > token })).isEmpty)
    }

    @Test func `a token of an earlier version has no times and is read`() throws {
        let context = ModelContext(try container())
        try save(Note(1), Note(2), in: context)
        let token = try #require(try context.fetchHistory(Descriptor()).first).token
        let number = try #require(token.tokenValue?[token.storeIdentifier])
        let text = """
            {"tokenValue":{"\(token.storeIdentifier)":\(number)},"storeIdentifier":"\(token.storeIdentifier)"}
            """
        let old = try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
        #expect(old == token)
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token > old })) == [number + 1])
    }

    // MARK: Several stores

    @Test func `a token has the positions in all stores, also before their first transactions`() throws {
        let context = ModelContext(try pair())
        try save(Note(1), in: context)
        let token = try lastToken(context)
        #expect(token.tokenValue?.count == 2)
        context.author = "importer"
        try save(Tag(1), Tag(2), in: context)
        context.author = nil
        try save(Tag(3), in: context)
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token > token })) == [1, 2, 3])
        let observed = [token.storeIdentifier: token]
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "importer" }))
        #expect(isExpired(context, #Predicate { $0.token > token }), "two transactions were not seen")
        // Readers that begin now miss nothing.
        let first = try #require(try context.fetchHistory(Descriptor()).first).token
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token > first })) == [3])
        let observer = try HistoryObserver(historyTokens: observed, modelContainer: context.container, isolation: nil)
        #expect(
            observer.eventCounter == 0,
            "the observer has the position of one store, and begins at the present in the other"
        )
    }

    @Test func `the tokens of notifications have the positions in all stores`() throws {
        let context = ModelContext(try pair())
        try save(Tag(1), in: context)
        let received = Received()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave,
            object: context,
            queue: nil
        ) { notification in
            let tokens = notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
            received.tokens = (tokens as? [String: any HistoryToken])?.values.compactMap { $0 as? DefaultHistoryToken }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try save(Note(1), in: context)
        let token = try #require(received.tokens?.first)
        #expect(received.tokens?.count == 1)
        #expect(try token == lastToken(context))
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token > token })).isEmpty)
    }

    /// The tokens of a notification.
    ///
    /// `@unchecked Sendable`: the thread of the test posts the notification, and is the only one that uses the property.
    private final class Received: @unchecked Sendable {
        var tokens: [DefaultHistoryToken]?
    }

    // notes               | tags, by a clock that is behind
    // five transactions   |
    //                     | three transactions
    @Test func `a token separates the transactions of each store, whatever the clocks`() throws {
        let context = ModelContext(try pair())
        try save(Note(1), Note(2), Note(3), Note(4), Note(5), in: context)
        let token = try lastToken(context)
        try save(Tag(1), Tag(2), Tag(3), in: context)
        let tags = try #require(try context.fetch(FetchDescriptor<Tag>()).first?.persistentModelID.storeIdentifier)
        let store = try #require(
            context.graph.coordinator.sealedStores.first { $0.metadata.uuid.uuidString == tags }
        )
        try store.opened.database.write { try $0.execute(#"UPDATE "_history" SET "timestamp" = "timestamp" - 3600"#) }
        func names(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> [String] {
            try context.fetchHistory(Descriptor(predicate: predicate)).map { transaction in
                "\(transaction.storeIdentifier == tags ? "tag" : "note") \(transaction.transactionIdentifier)"
            }.sorted()
        }
        let (old, new) = ((1...5).map { "note \($0)" }, (1...3).map { "tag \($0)" })
        #expect(try names(#Predicate { $0.token > token }) == new)
        #expect(try names(#Predicate { token < $0.token && $0.author == nil }) == new)
        #expect(try names(#Predicate { !($0.token > token) }) == old)
        #expect(try names(#Predicate { $0.token <= token || $0.author == "x" }) == old)
        #expect(try names(#Predicate { $0.token == token }) == ["note 5"])
        #expect(try names(#Predicate { $0.token != token }) == old.dropLast() + new)
        #expect(try names(#Predicate { $0.token >= token }) == ["note 5"] + new)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= token }))
        #expect(try names(#Predicate { $0.token > token }) == new)
    }

    // MARK: Bounds

    @Test func `a token expires however the predicate is written`() throws {
        let context = ModelContext(try container())
        for number in 0..<10 { try save(Note(number), in: context) }
        let all = try context.fetchHistory(Descriptor())
        let (token, five, last) = (all[1].token, all[4].token, all[9].token)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= five }))
        #expect(isExpired(context, #Predicate { $0.token > token }))
        #expect(isExpired(context, #Predicate { $0.token >= token }))
        #expect(isExpired(context, #Predicate { token < $0.token }))
        #expect(isExpired(context, #Predicate { token <= $0.token }))
        #expect(isExpired(context, #Predicate { !($0.token <= token) }))
        #expect(isExpired(context, #Predicate { !($0.token < token || $0.author == "x") }))
        #expect(isExpired(context, #Predicate { $0.token == token }))
        #expect(isExpired(context, #Predicate { $0.token > token && $0.token < last }))
        #expect(isExpired(context, #Predicate { $0.token > token || $0.token == last }))
        #expect(!isExpired(context, #Predicate { $0.token > five }))
        #expect(!isExpired(context, #Predicate { $0.token < token }))
        #expect(!isExpired(context, #Predicate { $0.token != token }))
        #expect(!isExpired(context, #Predicate { $0.token > token || $0.author == "x" }))
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token == last })) == [10])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token >= last })) == [10])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token < last })) == [6, 7, 8, 9])
        // What is left of a deleted part can be deleted again.
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token >= token && $0.token < last }))
        #expect(try numbers(context) == [10])
        #expect(try context.storeProblems() == [])
    }

    @Test(arguments: [Int64.min, -1, 0, .max - 1, .max])
    func `a decoded token may contain any number`(number: Int64) throws {
        let context = ModelContext(try container())
        try save(Note(1), Note(2), in: context)
        let last = try lastToken(context)
        let numbers = try #require(last.tokenValue).mapValues { _ in number }
        for store in [last.storeIdentifier, UUID().uuidString] {
            let fields = try JSONSerialization.data(
                withJSONObject: ["tokenValue": numbers, "storeIdentifier": store] as [String: Any]
            )
            let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: fields)
            let predicates: [Predicate<DefaultHistoryTransaction>] = [
                #Predicate { $0.token < token }, #Predicate { $0.token <= token }, #Predicate { $0.token == token },
                #Predicate { $0.token != token }, #Predicate { $0.token >= token }, #Predicate { $0.token > token },
                #Predicate { !($0.token > token) }, #Predicate { !($0.token < token) },
                #Predicate { $0.token > token && $0.token <= token },
                #Predicate { $0.token >= token && $0.token < last },
                #Predicate { $0.token == token || $0.token > last },
            ]
            for predicate in predicates {
                do {
                    let found = try context.fetchHistory(Descriptor(predicate: predicate))
                    #expect(found.count <= 2)
                } catch {
                    #expect(error as? SwiftDataError == .historyTokenExpired)
                }
            }
        }
        #expect(try context.fetchHistory(Descriptor()).count == 2)
    }

    @Test func `a request decodes only the changes that it returns`() throws {
        let context = ModelContext(try container())
        for number in 0..<10 { try save(Note(number), in: context) }
        let all = try context.fetchHistory(Descriptor())
        let (second, eighth, ninth) = (all[1].token, all[7].token, all[8].token)
        let time = all[8].timestamp
        let store = try #require(context.graph.coordinator.sealedStores.first)
        // The changes of all but two transactions cannot be decoded.
        try store.opened.database.write {
            try $0.execute(#"UPDATE "_history" SET "changes" = x'FF' WHERE "_id" NOT IN (1, 9, 10)"#)
        }
        #expect(throws: (any Error).self) { try numbers(context) }
        var limited = Descriptor()
        limited.fetchLimit = 1
        #expect(try numbers(context, limited) == [1])
        limited.sortBy = [SortDescriptor(\.token, order: .reverse)]
        limited.fetchLimit = 2
        #expect(try numbers(context, limited) == [10, 9])
        limited.sortBy = [SortDescriptor(\.timestamp, order: .reverse)]
        #expect(try numbers(context, limited) == [10, 9])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token > eighth })) == [9, 10])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token >= ninth })) == [9, 10])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.token == ninth })) == [9])
        #expect(try numbers(context, Descriptor(predicate: #Predicate { $0.timestamp >= time })) == [9, 10])
        // A predicate over changes reads those of the transactions in the bounds.
        let identifier = try #require(all[9].changes.first).changedPersistentIdentifier
        let ofModel = #Predicate<DefaultHistoryTransaction> { transaction in
            transaction.token > eighth
                && transaction.changes.contains { $0.changedPersistentIdentifier == identifier }
        }
        #expect(try numbers(context, Descriptor(predicate: ofModel)) == [10])
        let damaged = #Predicate<DefaultHistoryTransaction> { transaction in
            transaction.changes.contains { $0.changedPersistentIdentifier == identifier }
        }
        #expect(throws: (any Error).self) { try numbers(context, Descriptor(predicate: damaged)) }
        let observer = try HistoryObserver(
            historyTokens: [second.storeIdentifier: second],
            modelContainer: context.container,
            isolation: nil
        )
        #expect(observer.eventCounter == 1)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.timestamp < time }))
        #expect(try numbers(context) == [9, 10])
    }

    // MARK: Values

    @Test func `recorded numbers are converted to the present type of their attribute`() {
        func value(_ stored: Value, _ type: any Any.Type) -> (any Sendable)? {
            RecordedValue.value(stored, as: type, by: nil)
        }
        #expect(value(.integer(5), Double.self) as? Double == 5)
        #expect(value(.integer(5), Float?.self) as? Float == 5)
        #expect(value(.integer(.max), Double.self) == nil)
        #expect(value(.real(5), Int.self) as? Int == 5)
        #expect(value(.real(5.5), Int.self) == nil)
        #expect(value(.integer(300), Int8.self) == nil)
        #expect(value(.integer(-3), Int8.self) as? Int8 == -3)
    }
}
