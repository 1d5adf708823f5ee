import Foundation
import Guarded
@testable import SealedData
import Testing
import TestSupport

@Suite("Live results") struct ResultsObserverTests {
    typealias Station = Live.Station

    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try Live.container()
        context = ModelContext(container)
        for (name, line) in [("Gion", "A"), ("Shijo", "B"), ("Kyoto", "A"), ("Uji", nil)] as [(String, String?)] {
            context.insert(Station(name, line: line))
        }
        try context.save()
    }

    private func observer() throws -> ResultsObserver<Station, Never> {
        try ResultsObserver(sortBy: [SortDescriptor(\.name)], modelContext: context)
    }

    @Test func `results follow the saves of other contexts`() throws {
        let observer = try observer()
        let other = ModelContext(container)
        other.insert(Station("Nara"))
        try other.save()
        context.processPendingChanges()
        #expect(observer.results.map(\.name) == ["Gion", "Kyoto", "Nara", "Shijo", "Uji"])
    }

    @Test func `assigned results and sections stay until the next update`() throws {
        let observer = try ResultsObserver(
            sortBy: [SortDescriptor(\Station.name)],
            sectionBy: \Station.line,
            modelContext: context
        )
        let grouped = try ResultsObserver(
            filterBy: #Predicate { $0.line == "B" },
            sectionBy: \Station.line,
            modelContext: context
        )
        var list: [PersistentIdentifier] = []
        let subscription = observer.onChange { $0.apply(to: &list) }
        let live = observer.identifiers
        let notifications = Guarded(0)
        withObservationTracking {
            _ = observer.results
        } onChange: {
            notifications.withLock { $0 += 1 }
        }
        let order = FetchDescriptor<Station>(sortBy: [SortDescriptor(\.name, order: .reverse)])
        observer.results = try context.fetch(order, batchSize: 10)
        observer.sections = grouped.sections
        #expect(notifications.withLock { $0 } == 1)
        #expect(observer.results.map(\.name) == ["Uji", "Shijo", "Kyoto", "Gion"])
        #expect(observer.sections?.sectionTitles == ["B"])
        let shijo = observer.results[1]
        #expect(observer.element(at: [0, 0]) === shijo)
        #expect(observer.indexPath(for: shijo) == [0, 0])
        #expect(observer.indexPath(for: observer.results[0]) == nil)
        #expect(list == live)
        shijo.name = "Aoi"
        context.processPendingChanges()
        #expect(observer.results.map(\.name) == ["Uji", "Gion", "Kyoto", "Aoi"])
        #expect(observer.sections?.sectionTitles == [nil, "A", "B"])
        #expect(list == observer.identifiers)
        withExtendedLifetime(subscription) {}
    }

    @Test func `the filter, the order and the limit can be set at any time`() throws {
        let observer = try observer()
        observer.filterBy = #Predicate { $0.line == "A" }
        #expect(observer.results.map(\.name) == ["Gion", "Kyoto"])
        observer.sortBy = [SortDescriptor(\.name, order: .reverse)]
        #expect(observer.results.map(\.name) == ["Kyoto", "Gion"])
        observer.fetchDescriptor.fetchLimit = 1
        #expect(observer.results.map(\.name) == ["Kyoto"])
        observer.filterBy = nil
        #expect(observer.results.map(\.name) == ["Uji"])
    }

    @Test func `setting the query delivers earlier changes with the earlier query`() throws {
        let observer = try observer()
        var list: [PersistentIdentifier] = []
        let subscription = observer.onChange { $0.apply(to: &list) }
        let other = ModelContext(container)
        let changes: [() -> Void] = [
            { observer.sortBy = [] }, { observer.filterBy = #Predicate { $0.platforms > 0 } },
            { observer.fetchDescriptor.fetchLimit = 3 }, { observer.sortBy = [SortDescriptor(\.line)] },
        ]
        for (number, change) in changes.enumerated() {
            context.insert(Station("own \(number)"))
            other.insert(Station("other \(number)"))
            try other.save()
            change()
            #expect(list == observer.identifiers)
        }
        withExtendedLifetime(subscription) {}
    }

    @Test func `a callback may set the query and release another observer`() throws {
        let observer = try observer()
        var released: ResultsObserver<Station, Never>? = try self.observer()
        var lists: [[PersistentIdentifier]] = [[], []]
        let subscriptions = [
            observer.onChange { changes in
                changes.apply(to: &lists[0])
                released = nil
                if observer.fetchDescriptor.fetchLimit == nil { observer.fetchDescriptor.fetchLimit = 3 }
            },
            observer.onChange { $0.apply(to: &lists[1]) },
        ]
        #expect(released == nil)
        released = try self.observer()
        for name in ["A", "B"] {
            context.insert(Station(name))
            try context.save()
            #expect(lists == [observer.identifiers, observer.identifiers])
        }
        #expect(released == nil && observer.results.count == 3)
        withExtendedLifetime(subscriptions) {}
    }

    @Test func `a callback may set the query and read the results`() throws {
        let observer = try ResultsObserver(sectionBy: \Station.line, modelContext: context)
        observer.sectionBy = nil
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange { set in
            sets.append(set)
            guard sets.count == 2 else { return }
            observer.sectionBy = \.line
            observer.sortBy = [SortDescriptor(\.name)]
            #expect(observer.sections == nil, "the results of the earlier query are shown")
            observer.filterBy = #Predicate { $0.line != nil }
            for model in observer.results {
                #expect(observer.indexPath(for: model).flatMap(observer.element) === model)
            }
        }
        context.insert(Station("new", line: "Z"))
        try context.save()
        #expect(observer.sections?.sectionTitles.last == "Z")
        for model in observer.results { #expect(observer.indexPath(for: model).flatMap(observer.element) === model) }
        // Each set begins with the sections with which the previous one has ended.
        for (previous, next) in zip(sets, sets.dropFirst()) {
            if let sizes = previous.sections?.newSizes { #expect(next.sections?.oldSizes == sizes) }
        }
        #expect(sets.count > 3)
        withExtendedLifetime(subscription) {}
    }

    @Test func `sets compose although sections were set or removed between them`() throws {
        let observer = try ResultsObserver(
            sortBy: [SortDescriptor(\.name)],
            sectionBy: \Station.line,
            modelContext: context
        )
        let sizes = try #require(observer.sections).map(\.count)
        var sets: [ResultsChanges] = []
        let subscription = observer.onChange { sets.append($0) }
        observer.sectionBy = nil
        context.delete(observer.results[0])
        try context.save()
        let count = observer.results.count
        observer.sectionBy = \.line
        let newSizes = try #require(observer.sections).map(\.count)
        try #require(sets.count == 4)
        let all = try #require(sets[1].followed(by: sets[2]).followed(by: sets[3]).sections)
        #expect(all.oldSizes == sizes && all.newSizes == newSizes)
        #expect(all.deletions == Array(sizes.indices) && all.insertions == Array(newSizes.indices))
        let later = try #require(sets[2].followed(by: sets[3]).sections)
        #expect(later.oldSizes == [count + 1] && later.oldLocation(of: count).index == count)
        withExtendedLifetime(subscription) {}
    }

    @Test func `results follow the deletion of a model to which they refer without an inverse relationship`() throws {
        let company = Live.Company(name: "Keihan")
        let station = try #require(try context.fetch(FetchDescriptor<Station>()).first)
        station.company = company
        try context.save()
        let observer = try ResultsObserver<Station, Never>(
            filterBy: #Predicate { $0.company == nil },
            modelContext: context
        )
        let count = observer.results.count
        context.delete(company)
        context.processPendingChanges()
        #expect(observer.results.count == count + 1)
        context.rollback()
        context.processPendingChanges()
        #expect(observer.results.count == count)
        context.delete(company)
        try context.save()
        #expect(observer.results.count == count + 1 && observer.results.contains { $0 === station })
    }

    @Test func `observation reports changes of the results only`() throws {
        let observer = try observer()
        let station = try #require(observer.results.first)
        let changes = try notifications(of: { observer.results.count }) {
            station.platforms = 7
            try context.save()
        }
        #expect(changes == 0, "a property that the query does not read")
        let moves = try notifications(of: { observer.results.count }) {
            station.name = "Zen"
            try context.save()
        }
        #expect(moves == 1)
        #expect(notifications(of: { observer.sortBy }) { observer.sortBy = [] } == 1)
    }

    @Test func `an error keeps the results and is shown until the next success`() throws {
        let observer = try observer()
        let names = observer.results.map(\.name)
        observer.filterBy = #Predicate { $0.platforms.nonzeroBitCount == 1 }
        #expect(observer.fetchError != nil)
        #expect(observer.results.map(\.name) == names)
        observer.filterBy = #Predicate { $0.name == "Uji" }
        #expect(observer.fetchError == nil)
        #expect(observer.results.map(\.name) == ["Uji"])
    }

    @Test func `sections have titles of optional and enumeration properties and of relationships`() throws {
        let lines = try ResultsObserver(
            sortBy: [SortDescriptor(\.name)],
            sectionBy: \Station.line,
            modelContext: context
        )
        let sections = try #require(lines.sections)
        #expect(sections.sectionTitles == [nil, "A", "B"])
        #expect(sections[1].map(\.name) == ["Gion", "Kyoto"])
        #expect(sections[sectionTitle: "B"]?.map(\.name) == ["Shijo"])
        #expect(sections.index(ofSectionTitled: "A") == 1)
        #expect(!sections.contains(sectionTitle: "C"))

        let kinds = try ResultsObserver(sectionBy: \Station.kind, modelContext: context)
        lines.results[0].kind = .bus
        lines.results[0].town = Live.Town(name: "Uji")
        try context.save()
        #expect(Set(kinds.sections?.sectionTitles ?? []) == [.bus, .train])
        let towns = try ResultsObserver(sectionBy: \Station.town?.name, modelContext: context)
        #expect(towns.sections?.sectionTitles == [nil, "Uji"])
        let related = try ResultsObserver(sectionBy: \Station.town, modelContext: context)
        #expect(related.sections?.map(\.count) == [3, 1])
    }

    @Test func `paths of sections and positions lead to models and back`() throws {
        let observer = try ResultsObserver(
            sortBy: [SortDescriptor(\.name)],
            sectionBy: \Station.line,
            modelContext: context
        )
        for model in observer.results {
            let path = try #require(observer.indexPath(for: model))
            #expect(observer.element(at: path) === model)
        }
        #expect(observer.element(at: IndexPath(indexes: [1, 1]))?.name == "Kyoto")
        #expect(observer.element(at: IndexPath(indexes: [3, 0])) == nil)
        #expect(observer.indexPath(for: Station("unknown")) == nil)
        let flat = try self.observer()
        #expect(flat.element(at: IndexPath(indexes: [0, 2]))?.name == "Shijo")
    }

    @Test func `sections can be set, and a key path of another type is an error`() throws {
        let observer = try ResultsObserver(sectionBy: \Station.name, modelContext: context)
        #expect(observer.sections?.count == 4)
        observer.sectionBy = nil
        #expect(observer.sections == nil)
        observer.sectionBy = \Station.platforms
        #expect(observer.fetchError.map { SwiftDataError.unsupportedKeyPath ~= $0 } == true)
        observer.sectionBy = \Station.name
        #expect(observer.fetchError == nil)
        #expect(observer.sections?.sectionTitles == ["Gion", "Kyoto", "Shijo", "Uji"])
    }

    @Test func `the first sort descriptor determines the direction of the sections`() throws {
        let observer = try ResultsObserver(
            sortBy: [SortDescriptor(\Station.platforms, order: .reverse)],
            sectionBy: \Station.platforms,
            modelContext: context
        )
        observer.results[0].platforms = 5
        context.processPendingChanges()
        #expect(observer.sections?.sectionTitles == [5, 1])
    }

    @Test func `results without unsaved changes follow saves`() throws {
        var descriptor = FetchDescriptor<Station>(sortBy: [SortDescriptor(\.name)])
        descriptor.includePendingChanges = false
        let observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
        context.insert(Station("Arashiyama"))
        context.processPendingChanges()
        #expect(observer.results.count == 4)
        try context.save()
        #expect(observer.results.first?.name == "Arashiyama")
    }

    @Test func `results that Foundation evaluates follow changes`() throws {
        var descriptor = FetchDescriptor<Station>(
            predicate: #Predicate { $0.name == "Uji" && $0.platforms.nonzeroBitCount == 1 }
        )
        descriptor.allowsInMemoryEvaluation = true
        let observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
        let station = try #require(observer.results.first)
        station.name = "Ohbaku"
        try context.save()
        #expect(observer.results.isEmpty)
    }

    @Test @MainActor func `the main actor's results are updated without a call`() async throws {
        let observer = try ResultsObserver<Station, Never>(modelContainer: container)
        #expect(observer.modelContext === container.mainContext)
        var changes = observer.changes().makeAsyncIterator()
        #expect(await changes.next()?.insertions.count == 4)
        try await Live.Writer(modelContainer: container).insert(["Nara"])
        let set = try #require(await changes.next())
        #expect(set.insertions.map(\.index) == [4])
        #expect(observer.results.map(\.name).last == "Nara")
        container.mainContext.insert(Station("unsaved"))
        #expect(await changes.next()?.insertions.map(\.index) == [5])
    }

    @Test func `an actor observes results with a separate context`() async throws {
        let reader = Live.Reader(container)
        var changes = try await reader.changes().makeAsyncIterator()
        _ = await changes.next()
        try await Live.Writer(modelContainer: container).rename("Gion", to: "Gion-Shijo")
        #expect(await changes.next()?.modifications.map(\.index) == [0])
        #expect(await reader.names.first == "Gion-Shijo")
    }
}
