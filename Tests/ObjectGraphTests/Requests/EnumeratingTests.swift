import Guarded
import ObjectGraph
import Synchronization
import Testing

@Suite struct EnumeratingTests {
    /// Counts the live objects of its class.
    final class Counted: ManagedObject {
        @TaskLocal static var living: LivingCount?
        private let count = Counted.living

        required init(entity: Entity, insertInto context: ManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
            count?.add(1)
        }

        required init(_materializing materialization: Materialization) {
            super.init(_materializing: materialization)
            count?.add(1)
        }

        deinit { count?.add(-1) }
    }

    final class LivingCount: Sendable {
        private let state = Mutex((now: 0, most: 0))

        func add(_ amount: Int) {
            state.withLock { state in
                state.now += amount
                state.most = max(state.most, state.now)
            }
        }

        var most: Int { state.withLock { $0.most } }
    }

    private static func store(_ kind: StoreKind, count: Int, classes: [String: any GraphObject.Type] = [:]) throws
        -> TestStore
    {
        let store = try TestStore(kind, classes: classes)
        var number = 0
        let request = BatchInsertRequest(store.model.entitiesByName["Author"]!) {
            number += 1
            return number > count
                ? nil : ["name": .text("\(number)"), "born": .integer(Int64((number * 7_919) % count))]
        }
        try store.context().execute(request)
        return store
    }

    @Test(arguments: StoreKind.allCases)
    func `all objects are enumerated once, in order, in batches`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 2_500)
        let context = store.context()
        var sizes: [Int] = []
        var born: [Value] = []
        let request = context.request("Author", sortedBy: [QuerySort(store.model.path("Author", "born"))])
        try context.enumerate(request, batchSize: 1_000) { (authors: [ManagedObject]) in
            sizes.append(authors.count)
            born += authors.map { $0["born"] }
        }
        #expect(sizes == [1_000, 1_000, 500])
        #expect(born == (0..<2_500).map { .integer($0) })
        try context.enumerate(context.request("Tag")) { (_: [ManagedObject]) in Issue.record("there is no tag") }
    }

    @Test(arguments: StoreKind.allCases)
    func `limit, offset and predicate apply`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 100)
        let context = store.context()
        var request = context.request("Author", where: store.model.path("Author", "born") > 49)
        request.offset = 5
        request.limit = 30
        let expected = try context.fetch(request, as: ManagedObject.self).texts("name")
        var found: [String] = []
        try context.enumerate(request, batchSize: 7) { (authors: [ManagedObject]) in found += authors.texts("name") }
        #expect(found == expected)
        #expect(found.count == 30)
    }

    @Test(arguments: StoreKind.allCases)
    func `objects without references are released during the enumeration`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 30_000, classes: ["Author": Counted.self])
        let living = LivingCount()
        let context = store.context()
        var count = 0
        var held: Counted?
        try Counted.$living.withValue(living) {
            try context.enumerate(context.request("Author"), batchSize: 500) { (authors: [Counted]) in
                count += authors.count
                held = held ?? authors.first
            }
        }
        #expect(count == 30_000)
        #expect(living.most < 5_000, "\(living.most) objects at once")
        #expect(context.registeredObjects.count == 1)
        #expect(held?["name"] == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func `objects that are changed and saved during the enumeration are released too`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 10_000, classes: ["Author": Counted.self])
        let living = LivingCount()
        let context = store.context()
        try Counted.$living.withValue(living) {
            try context.enumerate(context.request("Author"), batchSize: 500) { (authors: [Counted]) in
                for author in authors { author["born"] = -1 }
                try context.save()
            }
        }
        #expect(living.most < 5_000, "\(living.most) objects at once")
        #expect(try context.count(context.request("Author", where: store.model.path("Author", "born") == -1)) == 10_000)
    }

    @Test(arguments: StoreKind.allCases)
    func `changes during the enumeration neither repeat nor skip an object`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 100)
        let context = store.context()
        let born = store.model.path("Author", "born")
        let request = context.request("Author", where: born < 100, sortedBy: [QuerySort(born)])
        var found: [Value] = []
        try context.enumerate(request, batchSize: 10) { (authors: [ManagedObject]) in
            for author in authors {
                found.append(author["born"])
                // Sorts after the others and no longer matches the predicate.
                author["born"] = 1_000
            }
            context.make("Author", ["born": 99])
            try context.save()
        }
        #expect(found == (0..<100).map { .integer($0) })
    }

    @Test(arguments: StoreKind.allCases)
    func `objects deleted before their batch are skipped`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 40)
        let context = store.context()
        let other = store.context()
        let doomed = try other.all("Author")[30...]
        let unsaved = try context.all("Author")[20]
        var names: [String] = []
        try context.enumerate(context.request("Author"), batchSize: 10) { (authors: [ManagedObject]) in
            if names.isEmpty {
                for author in doomed { other.delete(author) }
                try other.save()
                context.delete(unsaved)
            }
            names += authors.texts("name")
        }
        #expect(names == (1...30).filter { $0 != 21 }.map(String.init))
    }

    @Test(arguments: StoreKind.allCases)
    func `new objects are enumerated, even if they are saved before their batch`(kind: StoreKind) throws {
        let store = try Self.store(kind, count: 10)
        let context = store.context()
        for number in 0..<10 { context.make("Author", ["name": .text("new \(number)")]) }
        var names: [String] = []
        try context.enumerate(context.request("Author"), batchSize: 4) { (authors: [ManagedObject]) in
            names += authors.texts("name")
            try context.save()
        }
        #expect(names == (1...10).map(String.init) + (0..<10).map { "new \($0)" })
    }

    @Test(arguments: StoreKind.allCases)
    func `an error ends the enumeration`(kind: StoreKind) throws {
        struct Enough: Error {}
        let store = try Self.store(kind, count: 40)
        let context = store.context()
        var count = 0
        #expect(throws: Enough.self) {
            try context.enumerate(context.request("Author"), batchSize: 10) { (authors: [ManagedObject]) in
                count += authors.count
                if count == 20 { throw Enough() }
            }
        }
        #expect(count == 20)
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships are prefetched batch by batch`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let writer = store.context()
        for number in 0..<200 {
            writer.make("Book")[one: "author"] = writer.make("Author", ["name": .text("\(number)")])
        }
        try writer.save()
        let context = store.context()
        var request = context.request("Book")
        request.relationshipKeyPathsForPrefetching = [
            store.model.entitiesByName["Book"]!.relationships.filter { $0.name == "author" }
        ]
        store.counter.reset()
        var names: [String] = []
        try context.enumerate(request, batchSize: 50) { (books: [ManagedObject]) in
            names += books.compactMap { $0[one: "author"]?.text("name") }
        }
        #expect(names == (0..<200).map(String.init))
        #expect(store.counter.reads == 1 + 4 * 2)
    }
}
