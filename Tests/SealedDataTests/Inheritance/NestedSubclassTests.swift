import Foundation
import SealedData
import Testing

private protocol Floating {
    var name: String { get set }
}

@Model private class Boat {
    var name: String
    init(_ name: String) { self.name = name }

    @Model class Ferry: Boat {
        var cars = 0

        @Model final class Hydrofoil: Ferry {
            var knots: Int

            init(knots: Int) {
                self.knots = knots
                super.init("hydrofoil")
                cars = 2
            }
        }
    }

    @Model final class Raft: Boat {
        let logs: Int

        init(logs: Int) {
            self.logs = logs
            super.init("raft")
        }
    }
}

/// An outer class with a protocol initializes its properties as a subclass does.
@Model private class Buoy: Floating {
    var name: String
    let number: Int

    init(_ name: String, number: Int) {
        self.name = name
        self.number = number
    }

    @Model class Light: Buoy {
        var seconds = 3

        @Model final class `default`: Light {
            var colours: [String]

            init(colours: [String]) {
                self.colours = colours
                super.init("beacon", number: 9)
            }
        }
    }
}

@Suite("Models that are declared in their superclasses")
struct NestedSubclassTests {
    /// Saves models and fetches the objects of a class in another context.
    private func fetched<Model: PersistentModel>(_ type: Model.Type, of models: [Model]) throws -> [Model] {
        let container = try ModelContainer(
            for: Boat.self,
            Buoy.self,
            Boat.Ferry.Hydrofoil.self,
            Boat.Raft.self,
            Buoy.Light.`default`.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        models.forEach(context.insert)
        try context.save()
        return try ModelContext(container).fetch(FetchDescriptor<Model>())
    }

    @Test func `objects of classes in a superclass have the values of all their classes`() throws {
        let boats = try fetched(
            Boat.self,
            of: [Boat("boat"), Boat.Ferry("ferry"), Boat.Ferry.Hydrofoil(knots: 40), Boat.Raft(logs: 5)]
        )
        #expect(boats.map(\.name).sorted() == ["boat", "ferry", "hydrofoil", "raft"])
        #expect(boats.compactMap { $0 as? Boat.Ferry }.map(\.cars).sorted() == [0, 2])
        #expect(boats.compactMap { $0 as? Boat.Ferry.Hydrofoil }.map(\.knots) == [40])
        #expect(boats.compactMap { $0 as? Boat.Raft }.map(\.logs) == [5])
    }

    @Test func `an outer class may have a protocol`() throws {
        let buoys = try fetched(
            Buoy.self,
            of: [Buoy("buoy", number: 1), Buoy.Light("light", number: 2), Buoy.Light.`default`(colours: ["red"])]
        )
        #expect(Set(buoys.map(\.name)) == ["buoy", "light", "beacon"])
        #expect(buoys.map(\.number).sorted() == [1, 2, 9])
        #expect(buoys.compactMap { $0 as? Buoy.Light }.map(\.seconds) == [3, 3])
        #expect(buoys.compactMap { $0 as? Buoy.Light.`default` }.map(\.colours) == [["red"]])
    }

    @Test func `predicates and sort orders use the properties of all classes`() throws {
        let container = try ModelContainer(
            for: Boat.Ferry.Hydrofoil.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        [30, 40, 50].forEach { context.insert(Boat.Ferry.Hydrofoil(knots: $0)) }
        try context.save()
        let predicate = #Predicate<Boat.Ferry.Hydrofoil> { $0.name == "hydrofoil" && $0.cars == 2 && $0.knots > 30 }
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.knots, order: .reverse)])
        #expect(try ModelContext(container).fetch(descriptor).map(\.knots) == [50, 40])
    }
}
