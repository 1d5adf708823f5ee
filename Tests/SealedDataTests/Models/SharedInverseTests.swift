import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Relationships that share an inverse")
struct SharedInverseTests {
    /// A file with yards and plants.
    private final class Garden {
        let folder = TemporaryFolder()
        let context: ModelContext
        let plants = (0..<4).map { Plant("\($0)") }
        let yard = Yard("front")

        init() throws {
            context = ModelContext(try Self.container(in: folder))
            context.insert(yard)
            for plant in plants { context.insert(plant) }
            yard.leading = [plants[0], plants[1]]
            yard.trailing = [plants[2]]
        }

        func reopened() throws -> ModelContext { ModelContext(try Self.container(in: folder)) }

        private static func container(in folder: TemporaryFolder) throws -> ModelContainer {
            try ModelContainer(
                for: Yard.self,
                configurations: ModelConfiguration(url: folder.file("garden"), key: .ofTests)
            )
        }
    }

    @Test func `each keeps its own members, and the members have their owner`() throws {
        let garden = try Garden()
        #expect(garden.plants.map { $0.yard?.name } == ["front", "front", "front", nil])
        try garden.context.save()
        let context = try garden.reopened()
        let yard = try #require(try context.fetch(FetchDescriptor<Yard>()).first)
        #expect(yard.leading.map(\.name).sorted() == ["0", "1"])
        #expect(yard.trailing.map(\.name) == ["2"])
        #expect(yard.trailing.first?.yard === yard)
        #expect(try context.fetchCount(FetchDescriptor<Plant>(predicate: #Predicate { $0.yard?.name == "front" })) == 3)
        #expect(
            try context.fetchCount(
                FetchDescriptor<Yard>(predicate: #Predicate { $0.trailing.contains { $0.name == "2" } })
            )
                == 1
        )
    }

    @Test func `a member that leaves the last relationship loses its owner`() throws {
        let garden = try Garden()
        let (yard, plant) = (garden.yard, garden.plants[0])
        yard.trailing.append(plant)
        yard.leading.removeAll { $0 === plant }
        #expect(plant.yard === yard)
        yard.trailing.removeAll { $0 === plant }
        #expect(plant.yard == nil)
    }

    @Test func `a member that moves to another owner leaves all relationships of the first`() throws {
        let garden = try Garden()
        let plant = garden.plants[2]
        garden.yard.leading.append(plant)
        let back = Yard("back")
        back.trailing = [plant]
        #expect(plant.yard === back)
        #expect(!garden.yard.leading.contains(plant) && garden.yard.trailing.isEmpty)
        #expect(back.leading.isEmpty)
    }

    @Test func `setting the owner adds the member to the first relationship, and clearing removes it`() throws {
        let garden = try Garden()
        let plant = garden.plants[3]
        plant.yard = garden.yard
        #expect(garden.yard.leading.contains(plant) && !garden.yard.trailing.contains(plant))
        garden.plants[2].yard = garden.yard
        #expect(!garden.yard.leading.contains(garden.plants[2]))
        garden.plants[2].yard = nil
        #expect(garden.yard.trailing.isEmpty)
        try garden.context.save()
        let context = try garden.reopened()
        let yard = try #require(try context.fetch(FetchDescriptor<Yard>()).first)
        #expect(yard.leading.map(\.name).sorted() == ["0", "1", "3"])
        #expect(yard.trailing.isEmpty)
    }

    @Test func `deletions on either side leave no dangling key`() throws {
        let garden = try Garden()
        try garden.context.save()
        garden.context.delete(garden.plants[2])
        try garden.context.save()
        #expect(garden.yard.trailing.isEmpty)
        garden.context.delete(garden.yard)
        try garden.context.save()
        let context = try garden.reopened()
        let plants = try context.fetch(FetchDescriptor<Plant>())
        #expect(plants.count == 3)
        #expect(plants.allSatisfy { $0.yard == nil })
    }

    @Test func `undo reverts all sides`() throws {
        let garden = try Garden()
        try garden.context.save()
        garden.context.undoManager = UndoManager()
        let back = Yard("back")
        garden.context.insert(back)
        back.trailing = [garden.plants[0]]
        garden.context.processPendingChanges()
        garden.context.undoManager?.undo()
        #expect(garden.plants[0].yard === garden.yard)
        #expect(Set(garden.yard.leading.map(\.name)) == ["0", "1"])
    }
}

@Model private final class Yard {
    var name: String
    @Relationship(inverse: \Plant.yard) var leading: [Plant] = []
    @Relationship(inverse: \Plant.yard) var trailing: [Plant] = []
    init(_ name: String) { self.name = name }
}

@Model private final class Plant {
    var name: String
    var yard: Yard?
    init(_ name: String) { self.name = name }
}
