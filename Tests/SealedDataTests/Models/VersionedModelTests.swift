import Foundation
import SealedData
import Testing

// Classes in versions of a schema, as in apps, and the alias that the rest of the app uses for the newest one.

enum RecipeSchemaV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self] }

    @Model
    final class Recipe {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum RecipeSchemaV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Recipe.self, Ingredient.self] }
}

extension RecipeSchemaV2 {
    @Model
    final class Recipe {
        @Attribute(.unique, originalName: "title") var name: String
        @Relationship(deleteRule: .cascade, inverse: \Ingredient.recipe) var ingredients: [Ingredient]? = []
        var kind: Kind
        var steps: [Step] = []
        var rating: Rating?

        enum Kind: String, CaseIterable, Codable, Identifiable {
            case breakfast, dinner
            var id: Self { self }
        }

        struct Step: Codable, Hashable, Identifiable {
            var id = UUID()
            var text: String
            var minutes: Int?
        }

        enum Rating: Codable, Equatable {
            case none
            case stars(Int, by: String)
        }

        init(name: String, kind: Kind = .dinner) {
            self.name = name
            self.kind = kind
        }
    }

    @Model
    final class Ingredient {
        var name: String
        var amount: Measurement<UnitMass>?
        var recipe: Recipe?

        init(_ name: String, grams: Double? = nil) {
            self.name = name
            amount = grams.map { Measurement(value: $0, unit: .grams) }
        }
    }
}

typealias Recipe = RecipeSchemaV2.Recipe
typealias Ingredient = RecipeSchemaV2.Ingredient

@Suite("Classes in versions of a schema")
struct VersionedModelTests {
    @Test func `a class is used by its alias`() throws {
        let recipe = Recipe(name: "Soup")
        recipe.ingredients?.append(Ingredient("water", grams: 500))
        recipe.steps = [.init(text: "boil", minutes: 3), .init(text: "eat")]
        recipe.rating = .stars(4, by: "me")
        let saved = try Saved(recipe)
        #expect(saved.model.kind == .dinner)
        #expect(saved.model.steps == recipe.steps)
        #expect(saved.model.rating == .stars(4, by: "me"))
        #expect(saved.model.ingredients?.map(\.name) == ["water"])
        #expect(saved.model.ingredients?.first?.amount == Measurement(value: 500, unit: .grams))
        #expect(saved.model.ingredients?.first?.recipe === saved.model)
    }

    @Test func `a container is created from a version`() throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: RecipeSchemaV2.self),
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        #expect(container.schema.version == Schema.Version(2, 0, 0))
        let context = ModelContext(container)
        context.insert(Recipe(name: "b"))
        context.insert(Recipe(name: "a", kind: .breakfast))
        let name = "a"
        let recipes = try context.fetch(
            FetchDescriptor<Recipe>(predicate: #Predicate { $0.name == name }, sortBy: [SortDescriptor(\Recipe.name)])
        )
        #expect(recipes.map(\.kind) == [.breakfast])
    }

    @Test func `versions may have classes of the same name`() throws {
        let first = try Saved(RecipeSchemaV1.Recipe(title: "t"))
        #expect(first.model.title == "t")
        #expect(first.context.container.schema.entities.map(\.name) == ["Recipe"])
    }
}
