#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif
import Foundation
import SealedData
import SealedDataCombine
import Testing

@Model
final class Reading {
    var value: Int

    init(_ value: Int) { self.value = value }
}

@Suite struct ResultsChangesPublisherTests {
    private let context: ModelContext
    private let observer: ResultsObserver<Reading, Never>

    init() throws {
        let container = try ModelContainer(
            for: Reading.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        context = ModelContext(container)
        context.insert(Reading(1))
        try context.save()
        observer = try ResultsObserver(sortBy: [SortDescriptor(\.value)], modelContext: context)
    }

    private func insert(_ value: Int) throws {
        context.insert(Reading(value))
        try context.save()
    }

    @Test func `a sink receives the present results and each change`() throws {
        var sets: [ResultsChanges] = []
        let sink = observer.changesPublisher().sink { sets.append($0) }
        try insert(3)
        try insert(2)
        #expect(sets.first?.isInitial == true)
        #expect(sets.filter { !$0.insertions.isEmpty }.map { $0.insertions.map(\.index) } == [[0], [1], [1]])
        sink.cancel()
        try insert(4)
        #expect(sets.last?.insertions.first?.index != 3)
    }

    @Test func `a subscriber without demand receives one set for all changes`() throws {
        let subscriber = SlowSubscriber()
        observer.changesPublisher().subscribe(subscriber)
        #expect(subscriber.sets.isEmpty)
        var list: [PersistentIdentifier] = []
        for value in 2...9 {
            try insert(value)
            guard value == 5 || value == 9 else { continue }
            subscriber.subscription?.request(.max(1))
            subscriber.sets.last?.apply(to: &list)
            #expect(list == observer.results.map(\.persistentModelID))
        }
        #expect(subscriber.sets.map(\.isInitial) == [true, false])
        subscriber.subscription?.request(.max(1))
        #expect(subscriber.sets.count == 2)
    }

    @Test func `a subscriber may cancel while it receives`() throws {
        var count = 0
        var sink: AnyCancellable?
        sink = observer.changesPublisher().sink { set in
            count += 1
            if !set.isInitial { sink?.cancel() }
        }
        for value in 2...5 { try insert(value) }
        #expect(count == 2)
    }

    @Test func `the results are published, and a released subscription releases the observer`() throws {
        var values: [[Int]] = []
        weak var observed: ResultsObserver<Reading, Never>?
        var sink: AnyCancellable?
        do {
            let observer = try ResultsObserver<Reading, Never>(
                sortBy: [SortDescriptor(\.value)],
                modelContext: context
            )
            observed = observer
            sink = observer.resultsPublisher.sink { values.append($0.map(\.value)) }
        }
        try insert(2)
        #expect(values == [[1], [1, 2]])
        #expect(observed != nil)
        sink?.cancel()
        sink = nil
        #expect(observed == nil)
    }
}

/// A subscriber that demands values only when the test does.
private final class SlowSubscriber: Subscriber {
    var subscription: (any Subscription)?
    var sets: [ResultsChanges] = []

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: ResultsChanges) -> Subscribers.Demand {
        sets.append(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<Never>) {}
}
