import Foundation
import SealedData
import Testing

/// Insertion of articles with links to many tags, and traversals of the links.
enum ManyToManyBenchmarks {
    private static let linksOfArticle = 5

    static func all(_ bench: Workbench) throws -> [Benchmark] {
        let articleCount = bench.rows / 10
        let tagCount = max(bench.rows / 100, linksOfArticle)
        func tagsOfArticle(_ number: Int) -> [Int] {
            (0..<linksOfArticle).map { (number &* 31 &+ $0) % tagCount }
        }
        func fill(_ container: ModelContainer) throws {
            let context = ModelContext(container)
            let tags = (0..<tagCount).map(Tag.init)
            for tag in tags { context.insert(tag) }
            for number in 0..<articleCount {
                let article = Article(number: number)
                context.insert(article)
                article.tags = tagsOfArticle(number).map { tags[$0] }
            }
            try context.save()
        }
        let filled = bench.folder.appending(path: "articles.store")
        let container = try bench.open(filled, for: Article.self)
        try fill(container)
        let byHand = try HandWrittenDatabase(filled, .raw(bench.key), creates: false)
        let links = try byHand.articlesWithTags().reduce(0) { $0 + $1.tags.count }
        try #require(links == articleCount * linksOfArticle)
        return [
            Benchmark(
                operation: "insert with many-to-many links",
                budget: 1.5,
                rows: links,
                ours: {
                    try bench.withNewFile { file in
                        let container = try bench.open(file, for: Article.self)
                        return try nanoseconds { try fill(container) }
                    }
                },
                baseline: {
                    try bench.withNewFile { file in
                        let database = try HandWrittenDatabase(file, .raw(bench.key), creates: true)
                        try database.createArticles()
                        return try nanoseconds {
                            try database.insertArticles(
                                articleCount,
                                tagCount: tagCount,
                                tagsOfArticle: tagsOfArticle
                            )
                        }
                    }
                }
            ),
            Benchmark(
                operation: "walk a many-to-many relationship for all",
                budget: 1.3,
                rows: links,
                ours: {
                    let context = ModelContext(container)
                    var sum = 0
                    let time = try nanoseconds {
                        for article in try context.fetch(FetchDescriptor<Article>()) {
                            for tag in article.tags { sum &+= tag.number }
                        }
                    }
                    try #require(sum != 0)
                    return time
                },
                baseline: {
                    var sum = 0
                    let time = try nanoseconds {
                        for article in try byHand.articlesWithTags() {
                            for tag in article.tags { sum &+= tag.number }
                        }
                    }
                    try #require(sum != 0)
                    return time
                }
            ),
        ]
    }
}
