import Foundation
import SealedData
import Testing

/// The tests of this folder run in both language modes, which form key paths to inherited properties differently.
@Suite("Key paths to inherited properties")
struct InheritedKeyPathTests {
    private func context() throws -> ModelContext {
        let container = try ModelContainer(
            for: Sail.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for number in 0..<4 { context.insert(Sail(name: "\(number)", area: Double(number))) }
        try context.save()
        return context
    }

    @Test func `predicates and sort descriptors accept them`() throws {
        let context = try context()
        let name = "2"
        let sails = try context.fetch(
            FetchDescriptor<Sail>(
                predicate: #Predicate { $0.name >= name && $0.area > 1 },
                sortBy: [SortDescriptor(\.name)]
            )
        )
        #expect(sails.map(\.name) == ["2", "3"])
        #expect(try context.fetchCount(FetchDescriptor<Sail>(predicate: #Predicate { $0.color == "white" })) == 4)
    }

    @Test func `predicates of deletions accept them`() throws {
        let context = try context()
        try context.delete(model: Sail.self, where: #Predicate { $0.name == "1" })
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Sail>()) == 3)
    }

    @Test func `a fetch reads only the properties that they name`() throws {
        let reader = ModelContext(try context().container)
        var descriptor = FetchDescriptor<Sail>(sortBy: [SortDescriptor(\.color), SortDescriptor(\.name)])
        descriptor.propertiesToFetch = [\.name, \.color, \.area]
        #expect(try reader.fetch(descriptor).map(\.name) == ["0", "1", "2", "3"])
    }

    @Test func `indexes and uniqueness constraints name them`() throws {
        let schema = Schema([Sail.self])
        let entity = try #require(schema.entity(for: Sail.self))
        #expect(entity.indices.map { $0.filter { $0 != "binary" } } == [["name", "area"], ["color"]])
        #expect(entity.uniquenessConstraints == [["name", "area"]])
        let context = try context()
        context.insert(Sail(name: "1", area: 1, color: "red"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Sail>()) == 4)
        #expect(try context.fetchCount(FetchDescriptor<Sail>(predicate: #Predicate { $0.color == "red" })) == 1)
    }

    @Test func `values are read and written through them`() throws {
        let context = try context()
        #expect(Set(try context.fetch(FetchDescriptor<Sail>()).map { $0[keyPath: \Sail.name] }).count == 4)
        let sail = try #require(try context.fetch(FetchDescriptor<Sail>(sortBy: [SortDescriptor(\.name)])).first)
        #expect(sail.getValue(forKey: \Sail.name) == "0")
        sail.setValue(forKey: \Sail.color, to: "blue")
        #expect(sail.color == "blue")
    }
}

@Model private class Cloth {
    var name: String
    init(name: String) { self.name = name }
}

@Model private class DyedCloth: Cloth {
    var color = "white"
}

@Model private final class Sail: DyedCloth {
    #Index<Sail>([\.name, \.area], [\.color])
    #Unique<Sail>([\.name, \.area])
    var area: Double

    init(name: String, area: Double, color: String = "white") {
        self.area = area
        super.init(name: name)
        self.color = color
    }
}
