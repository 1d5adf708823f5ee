import Foundation
import SealedData
import Testing

@Suite("Upserts by unique values") struct UpsertTests {
    @Model
    final class Tag {
        @Attribute(.unique) var name: String
        var uses: Int
        var articles: [Article] = []

        init(name: String, uses: Int = 1) {
            self.name = name
            self.uses = uses
        }
    }

    @Model
    final class Article {
        #Unique<Article>([\.site, \.number])
        var site: String
        var number: Int
        var title: String
        var mainTag: Tag?
        @Relationship(inverse: \Tag.articles) var tags: [Tag]

        init(site: String, number: Int, title: String, mainTag: Tag? = nil, tags: [Tag] = []) {
            self.site = site
            self.number = number
            self.title = title
            self.mainTag = mainTag
            self.tags = tags
        }
    }

    private let container = try! ModelContainer(
        for: Article.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    @Test func `a new model becomes an update of the saved one`() throws {
        let context = ModelContext(container)
        context.insert(Tag(name: "swift"))
        try context.save()
        let tag = Tag(name: "swift", uses: 2)
        context.insert(tag)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 1)
        #expect(try context.fetch(FetchDescriptor<Tag>()).map(\.uses) == [2])
        // The saved model had no other references: the new model stands for its row now.
        tag.uses = 3
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tag>()).map(\.uses) == [3])
    }

    @Test func `an import that runs twice leaves one model of each, with its relationships`() throws {
        for run in 1...2 {
            let context = ModelContext(container)
            for number in 0..<50 {
                let tags = [Tag(name: "all"), Tag(name: number.isMultiple(of: 2) ? "even" : "odd")]
                context.insert(Article(site: "s", number: number, title: "run \(run)", tags: tags))
            }
            try context.save()
            #expect(!context.hasChanges)
        }
        let context = ModelContext(container)
        let articles = try context.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.number)]))
        #expect(articles.map(\.number) == Array(0..<50))
        #expect(articles.allSatisfy { $0.title == "run 2" && $0.tags.count == 2 })
        let tags = try context.fetch(FetchDescriptor<Tag>(sortBy: [SortDescriptor(\.name)]))
        #expect(tags.map(\.name) == ["all", "even", "odd"])
        #expect(tags.map(\.articles.count) == [50, 25, 25])
    }

    @Test func `the saved model keeps the relationships that are empty in the new one`() throws {
        let context = ModelContext(container)
        let (main, first, second) = (Tag(name: "main"), Tag(name: "first"), Tag(name: "second"))
        context.insert(Article(site: "s", number: 1, title: "old", mainTag: main, tags: [first]))
        try context.save()
        context.insert(Article(site: "s", number: 1, title: "new"))
        try context.save()
        context.insert(Article(site: "s", number: 1, title: "newest", tags: [second]))
        try context.save()
        let other = ModelContext(container)
        let saved = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        #expect(saved.title == "newest")
        #expect(saved.mainTag?.name == "main")
        #expect(Set(saved.tags.map(\.name)) == ["first", "second"])
    }

    @Test func `the later change of two contexts is saved`() throws {
        let first = ModelContext(container)
        first.insert(Tag(name: "swift"))
        try first.save()
        let second = ModelContext(container)
        let own = try #require(try first.fetch(FetchDescriptor<Tag>()).first)
        let other = try #require(try second.fetch(FetchDescriptor<Tag>()).first)
        own.uses = 2
        other.uses = 3
        try first.save()
        try second.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tag>()).map(\.uses) == [3])
    }
}
