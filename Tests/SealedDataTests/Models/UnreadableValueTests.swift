import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

/// Values that a later version of a program does not accept: a case of an enumeration was removed, or a `Codable` type
/// has changed.
@Suite struct UnreadableValueTests {
    enum Earlier {
        enum Mood: String, Codable { case glad, sad, angry }
        struct Size: Codable { var width = 1 }

        @Model final class Pet {
            var name: String
            var mood: Mood?
            var state: Mood
            @Attribute(originalName: "extent") var size = Size()
            init(_ name: String, _ mood: Mood?, _ state: Mood) {
                self.name = name
                self.mood = mood
                self.state = state
            }
        }
    }

    enum Later {
        enum Mood: String, Codable { case glad, sad }
        struct Size: Codable { var height: String }

        @Model final class Pet {
            var name: String
            var mood: Mood?
            var state = Mood.glad
            @Attribute(originalName: "size") var extent: Size?
            init() { name = "" }
        }
    }

    private let folder = TemporaryFolder()
    private var configuration: ModelConfiguration { ModelConfiguration(url: folder.file("pets"), key: .ofTests) }

    init() throws {
        let context = ModelContext(try ModelContainer(for: Earlier.Pet.self, configurations: configuration))
        for (name, mood, state) in [
            ("a", .angry, .angry), ("b", nil, .glad), ("c", .glad, .angry), ("d", .angry, .sad),
        ] as [(String, Earlier.Mood?, Earlier.Mood)] {
            context.insert(Earlier.Pet(name, mood, state))
        }
        try context.save()
    }

    @Test func `a preview counts the values that the types of a program do not accept`() throws {
        let previews = try ModelContainer.migrationPreview(for: Later.Pet.self, configurations: configuration)
        let preview = try #require(previews.values.first)
        #expect(preview.problems.isEmpty)
        #expect(
            Set(preview.unreadableValues.map { "\($0.entity).\($0.property): \($0.rows)" })
                == ["Pet.mood: 2", "Pet.state: 2", "Pet.extent: 4"]
        )
        let own = try ModelContainer.migrationPreview(for: Earlier.Pet.self, configurations: configuration)
        #expect(own.values.first?.unreadableValues == [])
    }

    /// Also if the model itself is the same, so that no migration is needed.
    @Test func `a preview counts removed cases of a store that needs no migration`() throws {
        _ = try ModelContainer(for: Later.Pet.self, configurations: configuration)
        let preview = try #require(
            try ModelContainer.migrationPreview(for: Later.Pet.self, configurations: configuration).values.first
        )
        #expect(preview.steps.isEmpty)
        #expect(preview.unreadableValues.first { $0.property == "mood" }?.rows == 2)
    }

    @Test func `a value that is not accepted is not nil in a predicate, and reading it makes the next fetch throw`()
        throws
    {
        let context = ModelContext(try ModelContainer(for: Later.Pet.self, configurations: configuration))
        let withoutMood = FetchDescriptor<Later.Pet>(predicate: #Predicate { $0.mood == nil })
        #expect(try context.fetch(withoutMood).map(\.name) == ["b"])
        let named = FetchDescriptor<Later.Pet>(predicate: #Predicate { $0.name == "a" })
        let pet = try #require(try context.fetch(named).first)
        #expect(pet.mood == nil)
        let error = #expect(throws: (any Error).self) { try context.fetch(withoutMood) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("mood"))
        #expect(throws: (any Error).self) {
            pet.name = "changed"
            _ = pet.mood
            try context.save()
        }
    }
}
