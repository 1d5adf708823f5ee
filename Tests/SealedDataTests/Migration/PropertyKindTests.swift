import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

/// An attribute that becomes a relationship of the same name, directly or by way of a version that renames it.
private enum Books {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self] }

        @Model
        final class Book {
            var title = ""
            var author = ""
            init(_ title: String, author: String) {
                self.title = title
                self.author = author
            }
        }
    }

    enum Renamed: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self] }

        @Model
        final class Book {
            var title = ""
            @Attribute(originalName: "author") var authorName = ""
            init() {}
        }
    }

    enum V3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self, Author.self] }

        @Model
        final class Book {
            var title = ""
            var authorName = ""
            var author: Author?
            init() {}
        }

        @Model
        final class Author {
            @Attribute(.unique) var name = ""
            @Relationship(inverse: \Book.author) var books: [Book] = []
            init(_ name: String) { self.name = name }
        }
    }

    /// Moves the values of the renamed attribute to the relationship.
    @Sendable static func moveValues(_ context: ModelContext) throws {
        for book in try context.fetch(FetchDescriptor<V3.Book>()) { book.author = V3.Author(book.authorName) }
        try context.save()
    }

    enum DirectPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V3.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: V1.self, toVersion: V3.self, willMigrate: nil, didMigrate: moveValues)]
        }
    }

    enum RenamingPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Renamed.self, V3.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: V1.self, toVersion: Renamed.self),
                .custom(fromVersion: Renamed.self, toVersion: V3.self, willMigrate: nil, didMigrate: moveValues),
            ]
        }
    }
}

@Suite("Attributes that become relationships") struct PropertyKindTests {
    private let folder = TemporaryFolder()
    private let configuration: ModelConfiguration

    init() throws {
        let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
        configuration = ModelConfiguration(url: folder.file("books.store"), key: key)
        let first = Schema(versionedSchema: Books.V1.self)
        let context = ModelContext(try ModelContainer(for: first, configurations: configuration))
        for (title, author) in [("Persuasion", "Austen"), ("Emma", "Austen"), ("Ulysses", "Joyce")] {
            context.insert(Books.V1.Book(title, author: author))
        }
        try context.save()
    }

    private func open(_ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: Books.V3.self),
            migrationPlan: plan,
            configurations: configuration
        )
    }

    @Test(arguments: [false, true])
    func `the refusal recommends a version that renames the attribute`(hasPlan: Bool) throws {
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try open(hasPlan ? Books.DirectPlan.self : nil)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("Book.author"))
        #expect(text.contains("in an intermediate version of the schema"), "\(text)")
        #expect(!text.contains("that changes these objects"), "\(text)")
    }

    @Test func `a plan with such a version moves the values`() throws {
        let context = ModelContext(try open(Books.RenamingPlan.self))
        let books = try context.fetch(FetchDescriptor<Books.V3.Book>(sortBy: [SortDescriptor(\.title)]))
        #expect(books.map { $0.author?.name } == ["Austen", "Austen", "Joyce"])
        #expect(try context.fetchCount(FetchDescriptor<Books.V3.Author>()) == 2)
        #expect(try context.storeProblems() == [])
    }
}
