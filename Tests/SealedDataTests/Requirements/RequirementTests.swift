import Foundation
import Guarded
import Observation
import SealedData
import Testing

/// Queries of generic code, whose key paths are requirements of a protocol.
@Suite("Key paths to the requirements of a protocol")
struct RequirementTests {
    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Volume.self,
            Film.self,
            Librarian.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
    }

    /// The titles that a descriptor finds after the insertion, and again after the save.
    private func expect<T: PersistentModel & Catalogued>(
        _ descriptor: FetchDescriptor<T>,
        _ titles: [String],
        _ models: [T],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let context = ModelContext(container)
        context.autosaveEnabled = false
        for model in models { context.insert(model) }
        let pending = try context.fetch(descriptor).map(\.title)
        #expect(pending == titles, "in memory", sourceLocation: location)
        try context.save()
        let saved = try ModelContext(container).fetch(descriptor).map(\.title)
        #expect(saved == titles, "in SQL", sourceLocation: location)
        try context.delete(model: T.self)
        try context.save()
    }

    private func volumes() -> [Volume] {
        [
            Volume("B", weight: 3, shelf: .middle, keeper: Librarian("Ann")), Volume("a10", weight: 1, shelf: .high),
            Volume("a9", weight: 2, keeper: Librarian("Bob")),
        ]
    }

    private func sql<T: PersistentModel>(_ predicate: Predicate<T>) throws -> String {
        try FetchDescriptor(predicate: predicate).explain(in: ModelContext(container)).statement
    }

    // MARK: Predicates

    private func titled<T: PersistentModel & Catalogued>(_ title: String, _: T.Type) -> Predicate<T> {
        #Predicate { $0.title == title }
    }

    private func kept<T: PersistentModel & Catalogued>(by name: String, _: T.Type) -> Predicate<T> {
        #Predicate { $0.keeper?.name == name }
    }

    private func numbered<T: PersistentModel & Catalogued>(_ number: UUID, _: T.Type) -> Predicate<T> {
        #Predicate { $0.number == number }
    }

    @Test func `a predicate has the results of the same predicate on the class`() throws {
        let volumes = volumes()
        #expect(try sql(titled("B", Volume.self)) == sql(#Predicate<Volume> { $0.title == "B" }))
        try expect(FetchDescriptor(predicate: titled("B", Volume.self)), ["B"], volumes)
        #expect(try volumes.filter { try titled("B", Volume.self).evaluate($0) }.map(\.title) == ["B"])
    }

    @Test func `a relationship is followed to a requirement of its destination`() throws {
        #expect(try sql(kept(by: "Ann", Volume.self)) == sql(#Predicate<Volume> { $0.keeper?.name == "Ann" }))
        try expect(FetchDescriptor(predicate: kept(by: "Ann", Volume.self)), ["B"], volumes())
    }

    @Test func `a constant can satisfy a requirement`() throws {
        let volumes = volumes()
        let number = volumes[2].number
        #expect(try sql(numbered(number, Volume.self)) == sql(#Predicate<Volume> { $0.number == number }))
        try expect(FetchDescriptor(predicate: numbered(number, Volume.self)), ["a9"], volumes)
    }

    @Test func `an inherited property can satisfy a requirement`() throws {
        let films = [Film("Alien"), Film("Brazil")]
        #expect(try sql(titled("Brazil", Film.self)) == sql(#Predicate<Film> { $0.title == "Brazil" }))
        try expect(FetchDescriptor(predicate: titled("Brazil", Film.self)), ["Brazil"], films)
    }

    private func heavy<T: PersistentModel & Catalogued>(_: T.Type) -> Predicate<T> {
        let middle = Floor.middle
        return #Predicate {
            $0.weight > 1 && ($0.shelf == middle || $0.isLent && $0.subtitle == nil) && $0.spot.row < 3
        }
    }

    @Test func `values of every kind can satisfy requirements`() throws {
        try expect(FetchDescriptor(predicate: heavy(Volume.self)), ["a9"], volumes())
    }

    // MARK: Sorting and partial fetches

    private func sorted<T: PersistentModel & Catalogued>(
        _ sorts: [SortDescriptor<T>],
        reading keyPaths: [PartialKeyPath<T>] = []
    ) -> FetchDescriptor<T> {
        var descriptor = FetchDescriptor<T>(sortBy: sorts)
        descriptor.propertiesToFetch = keyPaths
        return descriptor
    }

    private func byWeight<T: PersistentModel & Catalogued>(_: T.Type) -> FetchDescriptor<T> {
        sorted([SortDescriptor(\T.isLent, order: .reverse), SortDescriptor(\T.weight)])
    }

    private func byTitle<T: PersistentModel & Catalogued>(_: T.Type) -> FetchDescriptor<T> {
        sorted([SortDescriptor(\T.title, comparator: .localizedStandard)])
    }

    private func byLexicalTitle<T: PersistentModel & Catalogued>(_: T.Type) -> FetchDescriptor<T> {
        sorted([SortDescriptor(\T.title)], reading: [\T.title, \T.number])
    }

    @Test func `requirements can be sort keys`() throws {
        try expect(byWeight(Volume.self), ["a9", "B", "a10"], volumes())
        try expect(byTitle(Volume.self), ["a9", "a10", "B"], volumes())
        try expect(byLexicalTitle(Volume.self), ["B", "a10", "a9"], volumes())
    }

    @Test func `a fetch reads only the properties of the requirements`() throws {
        let context = ModelContext(container)
        context.insert(volumes()[0])
        try context.save()
        let plan = try byLexicalTitle(Volume.self).explain(in: ModelContext(container))
        #expect(plan.statement.contains("title"))
        let reader = ModelContext(container)
        let fetched = try #require(try reader.fetch(byLexicalTitle(Volume.self)).first)
        #expect(fetched.title == "B" && fetched.weight == 3)
    }

    // MARK: Computed properties

    private func refused<T: PersistentModel>(_ predicate: Predicate<T>) -> Bool {
        do {
            _ = try ModelContext(container).fetch(FetchDescriptor(predicate: predicate))
            return false
        } catch {
            return error as? SwiftDataError == .unsupportedPredicate
        }
    }

    private func computed<T: PersistentModel & Computing & Catalogued>(_: T.Type) -> [Predicate<T>] {
        [
            #Predicate { $0.folded == "a" }, #Predicate { $0.titleOrNone == "a" }, #Predicate { $0.full == "a" },
            #Predicate { $0.doubled == 2 }, #Predicate { $0.keeperName == "a" }, #Predicate { $0.constant == "Ab" },
            #Predicate { $0.remembered == "x" }, #Predicate { $0.loudTitle == "a!" },
        ]
    }

    private func labelled<T: PersistentModel & Catalogued>(_ label: String, _: T.Type) -> Predicate<T> {
        #Predicate { $0.label == label }
    }

    @Test func `requirements that are computed are refused`() throws {
        #expect(computed(Volume.self).map(refused) == Array(repeating: true, count: 8))
    }

    @Test func `each class has its own witness of a requirement`() throws {
        try expect(FetchDescriptor(predicate: labelled("label B", Volume.self)), ["B"], volumes())
        #expect(refused(labelled("film B", Film.self)))
        var descriptor = FetchDescriptor(predicate: labelled("film Brazil", Film.self))
        descriptor.allowsInMemoryEvaluation = true
        try expect(descriptor, ["Brazil"], [Film("Alien"), Film("Brazil")])
    }

    // MARK: Observation

    @Test func `only reads outside the query are observed`() throws {
        let context = ModelContext(container)
        let volume = volumes()[0]
        context.insert(volume)
        let changes = Guarded(0)
        let found = withObservationTracking {
            let predicate = kept(by: volume.label, Volume.self)
            return (try? context.fetchCount(FetchDescriptor(predicate: predicate)), volume.title)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        #expect(found == (0, "B"))
        volume.weight += 1
        #expect(changes.withLock { $0 } == 0)
        volume.title = "C"
        #expect(changes.withLock { $0 } == 1)
    }
}
