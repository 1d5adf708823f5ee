import SealedData
import Testing

@Suite("Predicates that capture models")
struct CapturedModelTests {
    private final class Session {
        let number: Int
        init(number: Int) { self.number = number }
    }

    private func garden() throws -> (ModelContext, Yard, [Plant]) {
        let container = try ModelContainer(
            for: Yard.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        let yard = Yard(name: "north")
        let plants = ["a", "b", "c"].map { Plant(code: $0) }
        context.insert(yard)
        for plant in plants { context.insert(plant) }
        yard.leading = [plants[0]]
        yard.trailing = [plants[1]]
        try context.save()
        return (context, yard, plants)
    }

    @Test func `a model, an optional one and collections of them are captured`() throws {
        let (context, yard, plants) = try garden()
        let none: Yard? = nil
        let set = Set(plants.prefix(2))
        func codes(_ predicate: Predicate<Plant>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.code)])).map(\.code)
        }
        #expect(try codes(#Predicate { $0.yard == yard }) == ["a", "b"])
        #expect(try codes(#Predicate { $0.yard == none && $0.code != "x" }) == ["c"])
        #expect(try codes(#Predicate { plants.contains($0) }) == ["a", "b", "c"])
        #expect(try codes(#Predicate { set.contains($0) && $0.yard == yard }) == ["a", "b"])
        #expect(try codes(#Predicate { plant in yard.name == "north" && plant.code > "a" }) == ["b", "c"])
        let first = plants[0]
        let yards = #Predicate<Yard> { $0.leading.contains(first) && $0.name == "north" }
        #expect(try context.fetchCount(FetchDescriptor(predicate: yards)) == 1)
        #expect(try yards.evaluate(yard))
    }

    @Test func `predicates with captured models are combined`() throws {
        let (context, yard, plants) = try garden()
        let other = plants[0]
        let combined = #Predicate<Plant> { $0.yard == yard } && !#Predicate<Plant> { $0 == other }
        #expect(try context.fetch(FetchDescriptor(predicate: combined)).map(\.code) == ["b"])
    }

    @Test func `an object that is neither a model nor Codable is refused`() throws {
        let (context, _, _) = try garden()
        let session = Session(number: 0)
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.fetch(FetchDescriptor<Plant>(predicate: #Predicate { $0.number == session.number }))
        }
    }
}
