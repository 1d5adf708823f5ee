import Foundation
import SealedData
import TestSupport
import Testing

/// A model that all versions of a schema share, and that leads to the class of the current version.
private enum Cards {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Die.self, Card.self, Box.self] }

        @Model final class Card {
            var title = ""
            @Relationship(inverse: \Die.cards) var dice: [Die] = []
            var box: Box?
            init(_ title: String) { self.title = title }
        }
    }

    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Card.self, Die.self, Box.self] }

        @Model final class Card {
            var title = ""
            var isCustom = false
            @Relationship(inverse: \Die.cards) var dice: [Die] = []
            var box: Box?
            init(_ title: String) { self.title = title }
        }
    }

    typealias Card = V2.Card

    @Model final class Die {
        var number = 0
        var cards: [Card] = []
        init(_ number: Int) { self.number = number }
    }

    /// Names the inverse of the current version's class.
    @Model final class Box {
        var name = ""
        @Relationship(inverse: \Card.box) var cards: [Card] = []
        init() {}
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self)] }
    }
}

@Suite struct SharedModelTests {
    private let folder = TemporaryFolder()
    private var configuration: ModelConfiguration { ModelConfiguration(url: folder.file("cards"), key: .ofTests) }

    private func container(migrating: Bool = true) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: migrating ? Cards.V2.self : Cards.V1.self as any VersionedSchema.Type),
            migrationPlan: migrating ? Cards.Plan.self : nil,
            configurations: configuration
        )
    }

    @Test func `a listed class stands for a class of its name that a shared model leads to`() throws {
        let schema = Schema(versionedSchema: Cards.V1.self)
        #expect(schema.entities.map(\.name) == ["Die", "Card", "Box"])
        #expect(schema.entitiesByName["Die"]?.relationshipsByName["cards"]?.inverseName == "dice")
        #expect(schema.entitiesByName["Card"]?.relationshipsByName["box"]?.inverseName == "cards")
        #expect(schema.entitiesByName["Card"]?.attributesByName.keys.sorted() == ["title"])
    }

    @Test func `a store of an earlier version with a shared model migrates`() throws {
        do {
            let context = ModelContext(try container(migrating: false))
            let card = Cards.V1.Card("old")
            context.insert(card)
            card.dice = [Cards.Die(1), Cards.Die(2)]
            card.box = Cards.Box()
            try context.save()
        }
        let context = ModelContext(try container())
        let card = try #require(try context.fetch(FetchDescriptor<Cards.Card>()).first)
        #expect(card.title == "old" && !card.isCustom && card.box?.cards == [card])
        #expect(Set(card.dice.map(\.number)) == [1, 2])
        #expect(card.dice.allSatisfy { $0.cards == [card] })
    }

    @Test func `a new store opens with the plan`() throws {
        let context = ModelContext(try container())
        context.insert(Cards.Card("new"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Cards.Card>()) == 1)
    }

    @Test func `two classes of one name that no version lists are refused`() {
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(
                for: Schema([Cards.Die.self, Cards.V1.Card.self, Cards.V2.Card.self]),
                configurations: ModelConfiguration(isStoredInMemoryOnly: true)
            )
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("two classes have this name"))
    }
}
