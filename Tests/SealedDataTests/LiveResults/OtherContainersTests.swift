import Dispatch
import Foundation
import Guarded
@testable import SealedData
import Testing
import TestSupport

/// Containers of one process with the same file.
@Suite struct OtherContainersTests {
    typealias Station = Live.Station
    typealias Town = Live.Town

    private let folder = TemporaryFolder()
    private let container: ModelContainer
    private let context: ModelContext
    private let other: ModelContext

    init() throws {
        container = try Live.container(in: folder)
        context = ModelContext(container)
        let town = Town(name: "Kyoto")
        context.insert(town)
        for name in ["Gion", "Shijo"] { context.insert(Station(name, town: town)) }
        try context.save()
        other = ModelContext(try Live.container(in: folder))
    }

    private func container(_ name: String, history: HistoryOptions?) throws -> ModelContainer {
        var configuration = ModelConfiguration(url: folder.file(name), key: .ofTests)
        configuration.history = history
        return try ModelContainer(for: Station.self, configurations: configuration)
    }

    @Test func `loaded members and values follow another container`() throws {
        let town = try #require(try context.fetch(FetchDescriptor<Town>()).first)
        #expect(town.stations.count == 2)
        let station = try #require(town.stations.first { $0.name == "Gion" })
        let theirs = try other.fetch(FetchDescriptor<Station>(sortBy: [SortDescriptor(\.name)]))
        theirs[0].name = "Gion-Shijo"
        other.insert(Station("Kyoto", town: theirs[0].town))
        try other.save()
        context.processPendingChanges()
        #expect(town.stations.count == 3)
        #expect(station.name == "Gion-Shijo")
        #expect(try context.storeProblems() == [])
    }

    @Test func `observers of a model are notified of the save of another container`() throws {
        let station = try #require(try context.fetch(FetchDescriptor<Station>(sortBy: [SortDescriptor(\.name)])).first)
        let count = try notifications(of: { station.name }) {
            try #require(try other.fetch(FetchDescriptor<Station>(sortBy: [SortDescriptor(\.name)])).first).name = "Uji"
            try other.save()
            context.processPendingChanges()
        }
        #expect(count == 1)
        #expect(station.name == "Uji")
    }

    @Test func `the observer of an actor receives the saves of another container`() async throws {
        let reader = Live.Reader(container)
        var changes = try await reader.changes().makeAsyncIterator()
        _ = await changes.next()
        try await Live.Writer(modelContainer: try Live.container(in: folder)).rename("Gion", to: "Zen")
        let change = try #require(await changes.next())
        #expect(change.moves.count == 1 || change.modifications.count == 1)
        #expect(await reader.names == ["Shijo", "Zen"])
    }

    @Test func `remote changes are those of other containers, and posted after the contexts have received them`() throws
    {
        let counts = Guarded(0)
        let signal = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange,
            object: container,
            queue: nil
        ) { _ in
            counts.withLock { $0 += 1 }
            signal.signal()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let town = try #require(try context.fetch(FetchDescriptor<Town>()).first)
        #expect(town.stations.count == 2)
        town.name = "Kyōto"
        try context.save()
        other.insert(Station("Uji"))
        try #require(try other.fetch(FetchDescriptor<Town>()).first).stations = []
        try other.save()
        #expect(signal.wait(timeout: .now() + maximumWait) == .success)
        context.processPendingChanges()
        #expect(town.stations.isEmpty)
        #expect((1...4).contains(counts.withLock { $0 }), "a save can be preceded by a reservation of identifiers")
    }

    @Test func `the notification of a remote change has the tokens of stores with a history`() throws {
        for history in [HistoryOptions(), nil] {
            let name = history == nil ? "plain.sealed" : "recorded.sealed"
            let observed = try container(name, history: history)
            let posted = Guarded<[[String: any HistoryToken]?]>([])
            let signal = DispatchSemaphore(value: 0)
            let token = NotificationCenter.default.addObserver(
                forName: ModelContainer.remoteChange,
                object: observed,
                queue: nil
            ) { notification in
                let tokens = notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
                posted.withLock { $0.append(tokens as? [String: any HistoryToken]) }
                signal.signal()
            }
            defer { NotificationCenter.default.removeObserver(token) }
            let writer = ModelContext(try container(name, history: nil))
            writer.insert(Station("Uji"))
            try writer.save()
            #expect(signal.wait(timeout: .now() + maximumWait) == .success)
            let tokens = posted.withLock { $0.last } ?? nil
            guard history != nil else {
                #expect(tokens == nil)
                continue
            }
            let descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
            let last = try #require(try ModelContext(observed).fetchHistory(descriptor).last)
            #expect(tokens?.values.first as? DefaultHistoryToken == last.token)
            #expect(tokens?.keys.first == last.storeIdentifier)
        }
    }

    // observing context    | its container          | another container
    // shows stations       |                        |
    //                      | saves a station        |
    //                      |                        | changes it, saves
    // processes both       |                        |
    @Test(arguments: [true, false], [true, false])
    func `an object that two containers change in turn has its last values`(isNew: Bool, belongs: Bool) throws {
        let observed = try container("turns", history: HistoryOptions())
        let writer = ModelContext(observed)
        if !isNew {
            writer.insert(Station("old"))
            try writer.save()
        }
        let context = ModelContext(observed)
        let results = try ResultsObserver(
            filterBy: #Predicate<Station> { $0.name == "shown" },
            sortBy: [SortDescriptor(\Station.name)],
            modelContext: context
        )
        let (first, last) = belongs ? ("other", "shown") : ("shown", "other")
        if isNew { writer.insert(Station(first)) } else { try writer.fetch(FetchDescriptor<Station>())[0].name = first }
        try writer.save()
        let other = ModelContext(try container("turns", history: nil))
        try #require(try other.fetch(FetchDescriptor<Station>()).first).name = last
        try other.save()
        context.processPendingChanges()
        #expect(results.results.map(\.name) == (belongs ? ["shown"] : []))
        #expect(try context.fetch(FetchDescriptor<Station>()).map(\.name) == [last])
        #expect(try context.storeProblems() == [])
    }

    @Test func `a configuration follows other processes without observers`() throws {
        var configuration = ModelConfiguration(
            url: folder.file("stations.sealed"),
            key: .ofTests
        )
        configuration.followsOtherProcesses = true
        let following = try ModelContainer(for: Station.self, configurations: configuration)
        #expect(following.configurations == container.configurations)
        let observing = ModelContext(following)
        let town = try #require(try observing.fetch(FetchDescriptor<Town>()).first)
        #expect(town.stations.count == 2)
        other.insert(Station("Uji", town: try other.fetch(FetchDescriptor<Town>()).first))
        try other.save()
        observing.processPendingChanges()
        #expect(town.stations.count == 3)
    }
}
