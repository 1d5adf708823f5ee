import Foundation
import Guarded
import SealedData
import Testing

/// Articles with full-text indexes, and places with an R-tree.
private enum Magazine {
    @Model final class Article {
        #Index<Article>(.fullText([\.title, \.body], prefixLengths: [3]), .fullText([\.keywords], tokenizer: .porter))

        var title: String
        var body: String?
        var keywords: String
        var year: Int

        init(_ title: String, body: String? = nil, keywords: String = "", year: Int = 2000) {
            self.title = title
            self.body = body
            self.keywords = keywords
            self.year = year
        }
    }

    @Model final class Novel {
        #Index<Novel>(.fullText([\.text], tokenizer: .trigram))

        var text: String

        init(_ text: String) { self.text = text }
    }

    @Model final class Place {
        #Index<Place>(.rtree([\.latitude, \.longitude]))

        var name: String
        var latitude: Double
        var longitude: Double

        init(_ name: String, _ latitude: Double, _ longitude: Double) {
            self.name = name
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    static func context(_ models: any PersistentModel...) throws -> ModelContext {
        let container = try ModelContainer(
            for: Article.self,
            Novel.self,
            Place.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for model in models { context.insert(model) }
        try context.save()
        return context
    }
}

@Suite("Full-text searches for models")
struct FullTextSearchTests {
    @Test func `models are found by their texts, most relevant first`() throws {
        let context = try Magazine.context(
            Magazine.Article("Coffee", body: "Unlike tea it needs no ceremony."),
            Magazine.Article("Tea", body: "Tea, tea and tea."),
            Magazine.Article("Water", year: 1999)
        )
        var descriptor = FetchDescriptor<Magazine.Article>()
        descriptor.search = FullTextSearch("tea")
        #expect(try context.fetch(descriptor).map(\.title) == ["Tea", "Coffee"])
        #expect(try context.fetchCount(descriptor) == 2)
        #expect(try context.fetchIdentifiers(descriptor).count == 2)
        descriptor.search = FullTextSearch("tea", in: [\.body], weights: [\.body: 2])
        descriptor.sortBy = [SortDescriptor(\.title)]
        #expect(try context.fetch(descriptor).map(\.title) == ["Coffee", "Tea"])
        descriptor.fetchLimit = 1
        descriptor.fetchOffset = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["Tea"])
    }

    @Test func `predicates filter the results`() throws {
        let context = try Magazine.context(
            Magazine.Article("Green tea", year: 1999),
            Magazine.Article("Black tea", year: 2010)
        )
        var descriptor = FetchDescriptor<Magazine.Article>(predicate: #Predicate { $0.year > 2000 })
        descriptor.search = FullTextSearch("tea")
        #expect(try context.fetch(descriptor).map(\.title) == ["Black tea"])
    }

    @Test func `queries are combined and limited to properties`() throws {
        let context = try Magazine.context(
            Magazine.Article("Green tea", body: "of Uji", keywords: "connections"),
            Magazine.Article("Uji", body: "a town")
        )
        func titles(_ query: FullTextQuery) throws -> [String] {
            var descriptor = FetchDescriptor<Magazine.Article>()
            descriptor.search = FullTextSearch(query)
            return try context.fetch(descriptor).map(\.title)
        }
        #expect(try titles(.within(\Magazine.Article.title, "uji")) == ["Uji"])
        #expect(try titles(.all([.prefix("gre"), "uji"])) == ["Green tea"])
        #expect(try titles(FullTextQuery("uji").excluding(.phrase("green tea"))) == ["Uji"])
        #expect(try titles(.within(\Magazine.Article.keywords, "connected")) == ["Green tea"])
        let typed = "uji\" OR *"
        var descriptor = FetchDescriptor<Magazine.Article>()
        descriptor.search = FullTextSearch(typed)
        #expect(try context.fetch(descriptor).isEmpty)
    }

    @Test func `matches have a relevance and excerpts`() throws {
        let context = try Magazine.context(Magazine.Article("Tea", body: "Green tea of Uji"))
        var descriptor = FetchDescriptor<Magazine.Article>()
        descriptor.search = FullTextSearch("green")
        let matches = try context.search(
            descriptor,
            excerpts: [.snippet(\.body, length: 2, marks: FullTextMarks("<", ">")), .highlight(\.title)]
        )
        let match = try #require(matches.first)
        #expect(match.model.title == "Tea")
        #expect(match.relevance > 0)
        #expect(match[excerpt: \.body] == "<Green> tea…")
        #expect(match[excerpt: \.title] == "Tea")
        #expect(match[excerpt: \.keywords] == nil)
    }

    @Test func `a search without an index is refused`() throws {
        let context = try Magazine.context()
        var descriptor = FetchDescriptor<Magazine.Article>()
        descriptor.search = FullTextSearch("tea", in: [\.title, \.keywords])
        #expect(throws: FullTextError.noIndex(entity: "Article", properties: ["keywords", "title"])) {
            try context.fetch(descriptor)
        }
        #expect(throws: FullTextError.noSearch) { try context.search(FetchDescriptor<Magazine.Article>()) }
        var places = FetchDescriptor<Magazine.Place>()
        places.search = FullTextSearch("x")
        #expect(throws: FullTextError.noIndex(entity: "Place", properties: [])) { try context.fetch(places) }
    }

    @Test func `Japanese text is found by substrings in searches and predicates`() throws {
        let context = try Magazine.context(
            Magazine.Novel("国境の長いトンネルを抜けると雪国であった。"),
            Magazine.Novel("吾輩は猫である。名前はまだ無い。")
        )
        var descriptor = FetchDescriptor<Magazine.Novel>()
        for text in ["トンネル", "雪国", "雪国 トンネル", "国"] {
            descriptor.search = FullTextSearch(text)
            #expect(try context.fetch(descriptor).count == 1, "\(text)")
        }
        let predicate = #Predicate<Magazine.Novel> { $0.text.contains("トンネル") }
        let plan = try FetchDescriptor(predicate: predicate).explain(in: context)
        #expect(plan.usesIndex, "\(plan)")
        #expect(plan.indexes.contains("_fulltext_Novel_text"), "\(plan)")
        #expect(try context.fetch(FetchDescriptor(predicate: predicate)).count == 1)
        let folding = #Predicate<Magazine.Novel> { $0.text.localizedStandardContains("ABC") }
        #expect(try FetchDescriptor(predicate: folding).explain(in: context).usesIndex)
    }

    @Test func `descriptors with other searches differ`() {
        var left = FetchDescriptor<Magazine.Article>()
        var right = left
        left.search = FullTextSearch("tea")
        #expect(left != right)
        right.search = FullTextSearch("tea")
        #expect(left == right)
    }
}

@Suite("Plans of descriptors, and warnings of scans")
struct DescriptorPlanTests {
    @Test func `coordinate ranges use the R-tree`() throws {
        let context = try Magazine.context(
            Magazine.Place("Kyoto", 35.01, 135.77),
            Magazine.Place("Tokyo", 35.68, 139.69)
        )
        let (south, north, west, east) = (34.5, 35.5, 135.0, 136.0)
        let box = #Predicate<Magazine.Place> {
            $0.latitude >= south && $0.latitude <= north && $0.longitude >= west && $0.longitude <= east
        }
        let descriptor = FetchDescriptor(predicate: box)
        #expect(try context.fetch(descriptor).map(\.name) == ["Kyoto"])
        let plan = try descriptor.explain(in: context)
        #expect(plan.indexes == ["_rtree_Place_latitude_longitude"], "\(plan)")
        #expect(plan.usesIndex)
        let (latitudes, longitudes) = (34.5...35.5, 135.0..<136)
        let ranges = #Predicate<Magazine.Place> {
            latitudes.contains($0.latitude) && longitudes.contains($0.longitude)
        }
        #expect(try context.fetch(FetchDescriptor(predicate: ranges)).map(\.name) == ["Kyoto"])
        #expect(try FetchDescriptor(predicate: ranges).explain(in: context).usesIndex)
    }

    @Test func `a plan contains the statement without values`() throws {
        let context = try Magazine.context()
        let secret = "a secret"
        let plan = try FetchDescriptor<Magazine.Place>(predicate: #Predicate { $0.name == secret }).explain(in: context)
        #expect(plan.scannedTables == ["Place"])
        #expect(!plan.usesIndex)
        #expect(plan.description.contains(#"WHERE (t0."name" = ?)"#), "\(plan)")
        #expect(!plan.description.contains(secret))
    }

    @Test func `a configuration can log scans of large tables`() throws {
        let messages = Guarded<[String]>([])
        var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        configuration.scanWarnings = ScanWarnings(threshold: 3) { warning in
            messages.withLock { $0.append("\(warning)") }
        }
        let context = ModelContext(try ModelContainer(for: Magazine.Place.self, configurations: configuration))
        for number in 0..<3 { context.insert(Magazine.Place("\(number)", 0, 0)) }
        try context.save()
        let descriptor = FetchDescriptor<Magazine.Place>(predicate: #Predicate { $0.name == "1" })
        for _ in 0..<3 { _ = try context.fetch(descriptor) }
        let logged = messages.withLock { $0 }
        #expect(logged.count == 1)
        #expect(logged.first?.hasPrefix("a fetch reads all rows of 'Place'") ?? false)
    }
}
