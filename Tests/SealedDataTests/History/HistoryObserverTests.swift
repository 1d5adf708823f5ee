import Foundation
@testable import SealedData
import TestSupport
import Testing

@Suite("Observers of the history") struct HistoryObserverTests {
    typealias Route = Records.Route
    typealias Stop = Records.Stop

    private let folder = TemporaryFolder()
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try Records.container(folder.file("routes.store"))
        context = ModelContext(container)
    }

    /// Waits until an observer has counted an event.
    private func event(of observer: HistoryObserver, _ change: () throws -> Void) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            _ = observer.eventCounter
        } onChange: {
            continuation.finish()
        }
        try change()
        for await _ in stream {}
        // The notification precedes the change.
        while observer.eventCounter == 0 { await Task.yield() }
    }

    @Test func `a save of an observed model by an observed author is an event`() async throws {
        let observer = try HistoryObserver(observedModels: [Route.self], authors: ["app"], modelContainer: container)
        #expect(observer.eventCounter == 0)
        context.author = "widget"
        context.insert(Route("1"))
        try context.save()
        context.author = "app"
        context.insert(Stop("a"))
        try context.save()
        try await event(of: observer) {
            context.insert(Records.NightRoute("n"))
            try context.save()
        }
        #expect(observer.eventCounter == 1)
    }

    @Test func `transactions after the given tokens are an event at once`() throws {
        context.insert(Route("1"))
        try context.save()
        let descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        let token = try #require(context.fetchHistory(descriptor).last).token
        let tokens = [token.storeIdentifier: token]
        #expect(try HistoryObserver(historyTokens: tokens, modelContainer: container).eventCounter == 0)
        context.insert(Route("2"))
        try context.save()
        #expect(try HistoryObserver(historyTokens: tokens, modelContainer: container).eventCounter == 1)
        #expect(
            try HistoryObserver(historyTokens: tokens, observedModels: [Stop.self], modelContainer: container)
                .eventCounter == 0
        )
        try context.deleteHistory(descriptor)
        #expect(try HistoryObserver(historyTokens: tokens, modelContainer: container).eventCounter == 1)
    }

    @Test func `an observer needs a history and the container's classes`() throws {
        #expect(throws: SwiftDataError.unknownSchema) {
            try HistoryObserver(observedModels: [ModelHistoryTests.Plain.Tag.self], modelContainer: container)
        }
        let plain = try Records.container(folder.file("plain.store"), history: nil)
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) { try HistoryObserver(modelContainer: plain) }
    }
}
