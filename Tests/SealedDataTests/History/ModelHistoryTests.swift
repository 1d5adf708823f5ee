import Foundation
@testable import SealedData
import SealedStore
import TestSupport
import Testing

/// Routes with stops, in a store with a history.
enum Records {
    @Model
    class Route {
        @Attribute(.preserveValueOnDeletion) var title: String
        @Attribute(.preserveValueOnDeletion) var code: UUID
        @Attribute(.preserveValueOnDeletion) var opened: Date?
        @Attribute(.preserveValueOnDeletion) var fares: [String: Int]
        var length = 0.0
        @Relationship(deleteRule: .cascade, inverse: \Stop.route) var stops: [Stop] = []

        init(_ title: String, code: UUID = UUID(), opened: Date? = nil, fares: [String: Int] = [:]) {
            self.title = title
            self.code = code
            self.opened = opened
            self.fares = fares
        }
    }

    @Model
    final class NightRoute: Route {
        var isWeekendOnly = false
    }

    @Model
    final class Stop {
        var name: String
        var route: Route?

        init(_ name: String, _ route: Route? = nil) {
            self.name = name
            self.route = route
        }
    }

    static func container(_ url: URL, history: HistoryOptions? = HistoryOptions()) throws -> ModelContainer {
        var configuration = ModelConfiguration(url: url, key: .ofTests)
        configuration.history = history
        return try ModelContainer(for: Route.self, NightRoute.self, Stop.self, configurations: configuration)
    }
}

@Suite("History of models") struct ModelHistoryTests {
    typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
    typealias Route = Records.Route
    typealias Stop = Records.Stop

    private let folder = TemporaryFolder()
    private let context: ModelContext

    init() throws {
        context = ModelContext(try Records.container(folder.file("routes.store")))
    }

    private func history(_ descriptor: Descriptor = Descriptor()) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(descriptor)
    }

    @Test func `a long history without its last transaction is read from its beginning`() throws {
        for number in 0..<300 {
            context.insert(Stop("\(number)"))
            try context.save()
        }
        context.author = "import"
        context.insert(Route("12"))
        try context.save()
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "import" }))
        #expect(try history().count == 300)
        let first = try #require(try history().first)
        let token = first.token
        #expect(throws: SwiftDataError.self) { try history(Descriptor(predicate: #Predicate { $0.token > token })) }
    }

    @Test func `transactions name the inserted, updated and deleted models`() throws {
        let route = Route("12")
        context.author = "importer"
        context.insert(route)
        try context.save()
        route.length = 4
        route.title = "12a"
        try context.save()
        let identifier = route.persistentModelID
        context.delete(route)
        try context.save()
        let transactions = try history()
        #expect(transactions.map(\.author) == ["importer", "importer", "importer"])
        #expect(
            transactions.flatMap(\.changes).map(\.changedPersistentIdentifier) == [identifier, identifier, identifier]
        )
        #expect(transactions.allSatisfy { $0.storeIdentifier == identifier.storeIdentifier })
        guard case .insert(let insertion) = transactions[0].changes[0], insertion is DefaultHistoryInsert<Route> else {
            Issue.record("\(transactions[0].changes)")
            return
        }
        guard case .update(let change) = transactions[1].changes[0],
            let update = change as? DefaultHistoryUpdate<Route>
        else {
            Issue.record("\(transactions[1].changes)")
            return
        }
        #expect(Set(update.updatedAttributes.map { $0 as AnyKeyPath }) == [\Route.length, \Route.title])
        #expect(update.transactionIdentifier == transactions[1].transactionIdentifier)
        guard case .delete = transactions[2].changes[0] else {
            Issue.record("\(transactions[2].changes)")
            return
        }
    }

    @Test func `a tombstone keeps the preserved values in their types`() throws {
        let (code, opened) = (UUID(), Date(timeIntervalSinceReferenceDate: 1))
        let route = Route("12", code: code, opened: opened, fares: ["adult": 3])
        let night = Records.NightRoute("n")
        context.insert(route)
        context.insert(night)
        try context.save()
        context.delete(route)
        context.delete(night)
        try context.save()
        var tombstones: [HistoryTombstone<Route>] = []
        for case .delete(let deletion) in try #require(history().last).changes {
            if let deletion = deletion as? any HistoryDelete<Route> { tombstones.append(deletion.tombstone) }
            if let deletion = deletion as? any HistoryDelete<Records.NightRoute> {
                #expect(deletion.tombstone[\.title] as? String == "n")
                #expect(deletion.tombstone[\.opened] == nil)
            }
        }
        let tombstone = try #require(tombstones.first)
        #expect(tombstone[\.title] as? String == "12")
        #expect(tombstone[\.code] as? UUID == code)
        #expect(tombstone[\.opened] as? Date == opened)
        #expect(tombstone[\.fares] as? [String: Int] == ["adult": 3])
        #expect(tombstone[\.length] == nil)
        #expect(Array(tombstone).count == 4)
    }

    @Test func `a predicate selects by token and author, as SwiftData's samples write it`() throws {
        context.insert(Route("1"))
        try context.save()
        let token = try #require(history().last).token
        for author in ["app", "widget", nil] {
            context.author = author
            context.insert(Route("2"))
            try context.save()
        }
        let others = try history(Descriptor(predicate: #Predicate { $0.token > token && $0.author != "widget" }))
        #expect(others.map(\.author) == ["app", nil])
        var limited = Descriptor(predicate: #Predicate { $0.token > token })
        limited.fetchLimit = 2
        #expect(try history(limited).map(\.author) == ["app", "widget"])
        limited.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
        #expect(try history(limited).map(\.author) == [nil, "widget"])
        let identifier = try #require(others.first?.changes.first?.changedPersistentIdentifier)
        let ofModel = #Predicate<DefaultHistoryTransaction> { transaction in
            transaction.changes.contains { $0.changedPersistentIdentifier == identifier }
        }
        #expect(try history(Descriptor(predicate: ofModel)).map(\.author) == ["app"])
        let last = try #require(history().last)
        let stored = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(last.token))
        #expect(stored == last.token && stored > token)
        #expect(try history(Descriptor(predicate: #Predicate { $0.token > stored })).isEmpty)
    }

    @Test func `a token from before the deletion of history has expired`() throws {
        for title in ["1", "2", "3"] {
            context.insert(Route(title))
            try context.save()
        }
        let tokens = try history().map(\.token)
        let (first, second) = (tokens[0], tokens[1])
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token < second }))
        #expect(try history().count == 2)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try history(Descriptor(predicate: #Predicate { $0.token > first }))
        }
        #expect(try history(Descriptor(predicate: #Predicate { $0.token > second })).count == 1)
        try context.deleteHistory(Descriptor())
        #expect(try history().isEmpty)
        #expect(try context.fetch(FetchDescriptor<Route>()).count == 3)
        #expect(try context.storeProblems() == [])
    }

    @Test func `values before and after a change are recorded by option`() throws {
        let container = try Records.container(folder.file("values.store"), history: HistoryOptions(recordsValues: true))
        let context = ModelContext(container)
        let route = Route("1", fares: ["a": 1])
        context.insert(route)
        try context.save()
        route.title = "2"
        route.fares["b"] = 2
        try context.save()
        guard case .update(let change)? = try context.fetchHistory(Descriptor()).last?.changes.first,
            let update = change as? DefaultHistoryUpdate<Route>
        else {
            Issue.record("the update is missing")
            return
        }
        #expect(update.previousValues[\.title] as? String == "1" && update.currentValues[\.title] as? String == "2")
        #expect(update.previousValues[\.fares] as? [String: Int] == ["a": 1])
        #expect(update.currentValues[\.fares] as? [String: Int] == ["a": 1, "b": 2])
    }

    @Test func `a container without a history says how to record one`() throws {
        let container = try Records.container(folder.file("plain.store"), history: nil)
        let error = try #require(throws: SwiftDataError.self) {
            try ModelContext(container).fetchHistory(Descriptor())
        }
        #expect(error == .invalidTransactionFetchRequest)
        #expect(error.explanation?.contains("history") ?? false)
    }

    @Test func `the notification of a save has the token of its transaction`() throws {
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
        context.insert(Route("1"))
        try context.save()
        #expect(try received.tokens == [#require(history().last).token])
    }

    /// The tokens of a notification.
    ///
    /// `@unchecked Sendable`: the thread of the test posts the notification, and is the only one that uses the property.
    private final class Received: @unchecked Sendable {
        var tokens: [DefaultHistoryToken]?
    }

    @Test func `the histories of two stores are one, with tokens over both`() throws {
        func configuration(_ name: String, _ schema: Schema) -> ModelConfiguration {
            var configuration = ModelConfiguration(
                name,
                schema: schema,
                url: folder.file("\(name).store"),
                key: .ofTests
            )
            configuration.history = HistoryOptions()
            return configuration
        }
        let plain = Schema([Plain.Note.self])
        let container = try ModelContainer(
            for: Schema([Plain.Note.self, Plain.Tag.self]),
            configurations: [configuration("a", plain), configuration("b", Schema([Plain.Tag.self]))]
        )
        let context = ModelContext(container)
        for number in 0..<6 {
            if number.isMultiple(of: 2) {
                context.insert(Plain.Note(number))
            } else {
                context.insert(Plain.Tag(number))
            }
            try context.save()
        }
        let transactions = try context.fetchHistory(Descriptor())
        #expect(transactions.count == 6)
        #expect(transactions.map(\.token) == transactions.map(\.token).sorted())
        for (position, transaction) in transactions.enumerated() {
            let token = transaction.token
            let rest = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
            #expect(rest.map(\.timestamp) == transactions.dropFirst(position + 1).map(\.timestamp))
        }
        #expect(transactions.last?.token.tokenValue?.count == 2)
    }

    enum Plain {
        @Model
        final class Note {
            var number: Int
            init(_ number: Int) { self.number = number }
        }

        @Model
        final class Tag {
            var number: Int
            init(_ number: Int) { self.number = number }
        }
    }
}
