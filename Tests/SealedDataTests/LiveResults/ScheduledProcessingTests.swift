import Foundation
@testable import SealedData
import TestSupport
import Testing

/// The processing of changes that a context with live results schedules on its actor.
@Suite struct ScheduledProcessingTests {
    typealias Station = Live.Station

    private actor Importer {
        private let context: ModelContext
        private let station = Station("Gion")
        private var observers: [ResultsObserver<Station, Never>] = []

        init(_ container: ModelContainer) {
            context = ModelContext(container)
            context.autosaveEnabled = false
            context.insert(station)
        }

        var platforms: Int { observers.first?.results.first?.platforms ?? 0 }
        var isScheduled: Bool { context.scheduledProcessing.isScheduled }

        /// Saves without a suspension, and makes an observer before each tenth save.
        ///
        /// - Returns: The number of enqueued calls.
        func save(_ count: Int, _ other: ModelContext? = nil) throws -> Int {
            let before = context.scheduledProcessing.enqueuedCount
            for number in 1...count {
                if number % 10 == 1 { observers.append(try ResultsObserver(modelContext: context)) }
                station.platforms = number
                try context.save()
                other?.insert(Station("Uji"))
                try other?.save()
            }
            return context.scheduledProcessing.enqueuedCount - before
        }
    }

    // The task that an actor enqueues for itself cannot run before the actor suspends.
    @Test func `saves of an actor without a suspension enqueue one call`() async throws {
        let importer = Importer(try Live.container())
        #expect(try await importer.save(1000) == 1)
        while await importer.isScheduled { await Task.yield() }
        // The next changes are processed by another call.
        #expect(try await importer.save(100) == 1)
        while await importer.isScheduled { await Task.yield() }
        #expect(await importer.platforms == 100)
    }

    @Test func `saves of other contexts share the call`() async throws {
        let container = try Live.container()
        let importer = Importer(container)
        #expect(try await importer.save(100, ModelContext(container)) == 1)
    }
}
