// swift-format-ignore-file
// The Swift code of SealedData's articles on indexes and searches, line by line: a test compares.

import Foundation
import SealedData

@Model final class Teahouse {
    #Index<Teahouse>([\.name])
    #Index<Teahouse>(.rtree([\.latitude, \.longitude]))
    #Index<Teahouse>(.fullText([\.name, \.menu], tokenizer: .trigram))
    #Unique<Teahouse>([\.name, \.town])

    var name: String
    var town: String
    var menu: String
    var latitude: Double
    var longitude: Double

    init(name: String, town: String, menu: String, latitude: Double, longitude: Double) {
        self.name = name
        self.town = town
        self.menu = menu
        self.latitude = latitude
        self.longitude = longitude
    }
}

@Model final class Article {
    #Index<Article>(.fullText([\.title, \.body], prefixLengths: [3]))

    var title: String
    var body: String
    var year: Int

    init(title: String, body: String, year: Int) {
        self.title = title
        self.body = body
        self.year = year
    }
}

/// The statements of Indexes and SearchingTexts.
func runSearchArticles(write: @escaping @Sendable (String) -> Void) throws {
    @Sendable func print(_ value: some Any) { write("\(value)") }

    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.scanWarnings = ScanWarnings(threshold: 10_000) { warning in
        print(warning)
    }

    let context = ModelContext(try ModelContainer(for: Teahouse.self, Article.self, configurations: configuration))

    let (latitudes, longitudes) = (34.9...35.1, 135.7...135.8)
    let box = #Predicate<Teahouse> {
        latitudes.contains($0.latitude) && longitudes.contains($0.longitude)
    }

    let plan = try FetchDescriptor(predicate: box).explain(in: context)
    print(plan.indexes)
    print(plan.usesIndex)

    context.insert(Article(title: "Green tea", body: "How to make it in Uji.", year: 2001))
    context.insert(Article(title: "Coffee", body: "Unlike tea it needs no ceremony.", year: 2010))
    try context.save()

    var descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.year > 2000 })
    descriptor.search = FullTextSearch("tea", weights: [\.title: 10])
    descriptor.fetchLimit = 20
    for article in try context.fetch(descriptor) { print(article.title) }

    descriptor.search = FullTextSearch(.all([.phrase("green tea"), .prefix("uj")]))
    print(try context.fetchCount(descriptor))
    descriptor.search = FullTextSearch(FullTextQuery("tea").excluding(.within(\Article.title, "green")))
    print(try context.fetchCount(descriptor))

    descriptor.search = FullTextSearch("ceremony")
    for match in try context.search(descriptor, excerpts: [.snippet(\.body, length: 4)]) {
        print(match[excerpt: \.body] ?? match.model.title)
    }
}
