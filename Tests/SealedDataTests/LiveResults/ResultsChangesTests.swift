import Foundation
import Guarded
@testable import SealedData
import Testing
import TestSupport

@Suite("Change sets of live results") struct ResultsChangesTests {
    typealias Station = Live.Station

    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try Live.container()
        context = ModelContext(container)
        for number in 0..<5 { context.insert(Station("station \(number)", line: "A")) }
        try context.save()
    }

    private func observer() throws -> ResultsObserver<Station, Never> {
        try ResultsObserver(sortBy: [SortDescriptor(\.name)], modelContext: context)
    }

    @Test func `a set names deletions, insertions, moves and modifications`() throws {
        let observer = try observer()
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange { sets.append($0) }
        #expect(sets.count == 1 && sets[0].isInitial && sets[0].insertions.count == 5)
        let models = Array(observer.results)
        models[0].name = "station 9"
        models[2].platforms = 8
        context.delete(models[4])
        let new = Station("a station")
        context.insert(new)
        try context.save()
        let set = try #require(sets.last)
        #expect(set.deletions == [4])
        #expect(set.insertions == [.init(index: 0, identifier: new.persistentModelID)])
        #expect(set.moves == [.init(from: 0, to: 4)])
        #expect(set.modifications.map(\.index) == [2, 4])
        subscription.cancel()
        context.delete(new)
        try context.save()
        #expect(sets.count == 2)
    }

    @Test func `modifications can be restricted to properties`() throws {
        let observer = try observer()
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange(of: [\.line]) { sets.append($0) }
        observer.results[1].platforms = 3
        try context.save()
        #expect(sets.count == 1)
        observer.results[1].line = "B"
        try context.save()
        #expect(sets.last?.modifications.map(\.index) == [1])
        withExtendedLifetime(subscription) {}
    }

    @Test func `a model that gets its permanent identifier is modified`() throws {
        let observer = try observer()
        var list: [PersistentIdentifier] = []
        let subscription = observer.onChange { $0.apply(to: &list) }
        context.insert(Station("new"))
        context.processPendingChanges()
        #expect(list == observer.identifiers)
        try context.save()
        #expect(list == observer.identifiers)
        withExtendedLifetime(subscription) {}
    }

    @Test func `a consumer that lags gets one set`() async throws {
        let observer = try observer()
        let sequence = observer.changes()
        for number in 0..<100 {
            observer.results[0].name = "moved \(number)"
            context.insert(Station("new \(number)"))
            try context.save()
        }
        var list: [PersistentIdentifier] = []
        var iterator = sequence.makeAsyncIterator()
        let set = try #require(await iterator.next())
        set.apply(to: &list)
        #expect(set.isInitial && list == observer.identifiers)
        for model in Array(observer.results).dropFirst(5) { context.delete(model) }
        try context.save()
        await iterator.next()?.apply(to: &list)
        #expect(list == observer.identifiers)
    }

    @Test func `an interval collects changes`() async throws {
        let observer = try observer()
        let clock = ManualClock()
        let sequence = observer.changes(collectedFor: .seconds(5), clock: clock)
        async let first = sequence.first { _ in true }
        await clock.waitForSleeper()
        context.insert(Station("second"))
        try context.save()
        clock.advance(by: .seconds(5))
        #expect(await first?.insertions.count == 6)
    }

    @Test @MainActor func `a function is called once for the changes of an interval`() async throws {
        let context = container.mainContext
        let observer = try ResultsObserver<Station, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
        let clock = ManualClock()
        var list: [PersistentIdentifier] = []
        var sets: [ResultsChanges] = []
        let (calls, call) = AsyncStream.makeStream(of: Void.self)
        var called = calls.makeAsyncIterator()
        let subscription = observer.onChange(collectedFor: .seconds(5), clock: clock) { set in
            sets.append(set)
            set.apply(to: &list)
            call.yield()
        }
        await called.next()
        #expect(sets.map(\.isInitial) == [true], "the present results do not wait")
        for number in 0..<20 {
            context.insert(Station("new \(number)"))
            observer.results[0].platforms = number
            try context.save()
        }
        await clock.waitForSleeper()
        #expect(sets.count == 1)
        clock.advance(by: .seconds(5))
        await called.next()
        #expect(sets.count == 2)
        #expect(sets.last?.insertions.count == 20)
        #expect(list == observer.identifiers)
        // What a cancelled subscription has collected is dropped.
        context.insert(Station("last"))
        try context.save()
        subscription.cancel()
        await clock.waitForSleeper()
        clock.advance(by: .seconds(5))
        let second = observer.onChange { _ in call.yield() }
        await called.next()
        #expect(sets.count == 2)
        withExtendedLifetime(second) {}
    }

    @Test func `a function is called at once if no actor uses the context`() throws {
        let observer = try observer()
        var count = 0
        let subscription = observer.onChange(collectedFor: .seconds(5), clock: ManualClock()) { _ in count += 1 }
        for number in 0..<3 {
            context.insert(Station("new \(number)"))
            try context.save()
        }
        #expect(count == 4)
        withExtendedLifetime(subscription) {}
    }

    @Test func `a sequence ends with its observer and with its task`() async throws {
        var observer: ResultsObserver<Station, Never>? = try observer()
        let sequence = try #require(observer?.changes())
        var iterator = sequence.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        let task = Task {
            var iterator = sequence.makeAsyncIterator()
            return await iterator.next()
        }
        task.cancel()
        #expect(await task.value == nil)
        observer = nil
        #expect(await iterator.next() == nil)
    }

    @Test func `sections change with their models`() throws {
        let observer = try ResultsObserver(
            sortBy: [SortDescriptor(\.name)],
            sectionBy: \Station.line,
            modelContext: context
        )
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange { sets.append($0) }
        observer.results[4].line = "B"
        try context.save()
        let sections = try #require(sets.last?.sections)
        #expect(sections.insertions == [1] && sections.deletions.isEmpty)
        #expect(sections.oldSizes == [5] && sections.newSizes == [4, 1])
        #expect(sections.newLocation(of: 4).section == 1 && sections.newLocation(of: 4).index == 0)
        observer.results[4].line = "A"
        try context.save()
        #expect(sets.last?.sections?.deletions == [1])
        withExtendedLifetime(subscription) {}
    }

    @Test(arguments: SeededGenerator.seeds(10))
    func `change sets and their compositions lead to the results`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = TemporaryFolder()
        let container = try Live.container(in: folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        let outside = ModelContext(try Live.container(in: folder))
        var limited = FetchDescriptor<Station>(sortBy: [SortDescriptor(\.platforms)])
        limited.fetchLimit = 5
        let observers = try [
            ResultsObserver(sortBy: [SortDescriptor(\.name)], sectionBy: \Station.line, modelContext: context),
            ResultsObserver(fetchDescriptor: limited, sectionBy: \Station.line, modelContext: context),
        ]
        var lists: [[PersistentIdentifier]] = [[], []]
        var lagging: [[PersistentIdentifier]] = [[], []]
        let subscriptions = observers.indices.map { index in
            observers[index].onChange { $0.apply(to: &lists[index]) }
        }
        let mailboxes = observers.map { $0.changes().mailbox }
        for step in 0..<40 {
            let writer = [context, context, other, outside][Int.random(in: 0..<4, using: &generator)]
            try change(writer, &generator)
            if writer !== context || generator.chance(60) { try writer.save() }
            context.processPendingChanges()
            for index in observers.indices {
                let comment: Comment = "\(generator), step \(step), observer \(index)"
                let observer = observers[index]
                #expect(observer.fetchError == nil, comment)
                #expect(lists[index] == observer.identifiers, comment)
                let sections = observer.sections.map { $0.map { Array($0.map(\.persistentModelID)) } } ?? []
                #expect(sections.flatMap { $0 } == lists[index], comment)
                for section in observer.sections ?? .init() { #expect(section.allSatisfy { $0.line == section.title }) }
                guard generator.chance(20) else { continue }
                mailboxes[index].take()?.apply(to: &lagging[index])
                #expect(lagging[index] == lists[index], comment)
            }
        }
        try context.save()
        #expect(try context.storeProblems() == [], "\(generator)")
        withExtendedLifetime(subscriptions) {}
    }

    private func change(_ context: ModelContext, _ generator: inout SeededGenerator) throws {
        let stations = try context.fetch(FetchDescriptor<Station>())
        let number = Int.random(in: 0..<20, using: &generator)
        guard let station = generator.pick(stations), !generator.chance(30) else {
            return context.insert(
                Station("station \(number)", line: generator.pick(["A", "B", nil]) ?? nil, platforms: number)
            )
        }
        switch number % 4 {
        case 0: context.delete(station)
        case 1: station.name = "station \(number)"
        case 2: station.line = generator.pick(["A", "B", "C", nil]) ?? nil
        default: station.platforms = number
        }
    }
}

/// A clock that advances only by calls.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { continuation in
            let watchers = state.withLock { state in
                state.sleepers.append((deadline, continuation))
                defer { state.watchers = [] }
                return state.watchers
            }
            for watcher in watchers { watcher.resume() }
        }
    }

    /// Suspends until a task sleeps.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isSleeping = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isSleeping { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
