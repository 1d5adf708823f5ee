import Foundation
import SealedData
import TestSupport
import Testing

/// Migrations of containers with several stores.
@Suite("Migrations of several stores") struct SeveralStoresMigrationTests {
    enum Old: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Author.self, Book.self] }

        @Model
        final class Author {
            var name: String
            init(_ name: String) { self.name = name }
        }

        @Model
        final class Book {
            var pages: String
            init(_ pages: String) { self.pages = pages }
        }
    }

    enum New: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Author.self, Book.self] }

        @Model
        final class Author {
            @Attribute(originalName: "name") var title: String
            init(_ title: String) { self.title = title }
        }

        @Model
        final class Book {
            var pages: Int
            init(_ pages: Int) { self.pages = pages }
        }
    }

    /// A plan whose code fails in a store with books.
    enum FailingPlan: SchemaMigrationPlan {
        struct Failure: Error {}

        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] {
            [
                .custom(fromVersion: Old.self, toVersion: New.self, willMigrate: nil) { context in
                    if let count = try? context.fetchCount(FetchDescriptor<New.Book>()), count > 0 { throw Failure() }
                }
            ]
        }
    }

    private let folder = TemporaryFolder()

    private func configurations(
        _ first: any PersistentModel.Type,
        _ second: any PersistentModel.Type,
        secondKey: EncryptionKey = .ofTests
    ) -> [ModelConfiguration] {
        [
            ModelConfiguration("first", schema: Schema([first]), url: folder.file("first"), key: .ofTests),
            ModelConfiguration("second", schema: Schema([second]), url: folder.file("second"), key: secondKey),
        ]
    }

    /// Fills both stores with objects of the old classes.
    private func fill(pages: String) throws {
        let container = try ModelContainer(
            for: Schema([Old.Author.self, Old.Book.self]),
            configurations: configurations(Old.Author.self, Old.Book.self)
        )
        let context = ModelContext(container)
        context.insert(Old.Author("Ann"))
        context.insert(Old.Book(pages))
        try context.save()
    }

    private func openNew(secondKey: EncryptionKey = .ofTests) throws -> ModelContext {
        try ModelContext(
            ModelContainer(
                for: Schema([New.Author.self, New.Book.self]),
                configurations: configurations(New.Author.self, New.Book.self, secondKey: secondKey)
            )
        )
    }

    @Test("A store that cannot be migrated, or opened, leaves the others as they were")
    func refusedStore() throws {
        try fill(pages: "many")
        let files = ["first", "second"].map(folder.file)
        let before = try files.map { try Data(contentsOf: $0) }
        let refusal = #expect(throws: SwiftDataError.loadIssueModelContainer) { _ = try openNew() }
        #expect(refusal.map { "\($0)".contains("'second'") } == true)
        #expect(refusal.map { "\($0)".contains("have been updated") } == false)
        #expect(throws: SwiftDataError.loadIssueModelContainer) { _ = try openNew(secondKey: .passphrase("wrong")) }
        #expect(try files.map { try Data(contentsOf: $0) } == before)
        let old = try ModelContainer(
            for: Schema([Old.Author.self, Old.Book.self]),
            configurations: configurations(Old.Author.self, Old.Book.self)
        )
        #expect(try ModelContext(old).fetch(FetchDescriptor<Old.Author>()).map(\.name) == ["Ann"])
        #expect(try configurations(Old.Author.self, Old.Book.self).allSatisfy { try old.check($0).isSound })
    }

    @Test("Stores that can be migrated are migrated together")
    func acceptedStores() throws {
        try fill(pages: "12")
        let context = try openNew()
        #expect(try context.fetch(FetchDescriptor<New.Author>()).map(\.title) == ["Ann"])
        #expect(try context.fetch(FetchDescriptor<New.Book>()).map(\.pages) == [12])
        let all = configurations(New.Author.self, New.Book.self)
        #expect(try all.allSatisfy { try context.container.check($0).isSound })
    }

    @Test("The error of a store whose migration fails names the stores that have been migrated")
    func failingSecondMigration() throws {
        try fill(pages: "12")
        let failure = #expect(throws: SwiftDataError.self) {
            _ = try ModelContainer(
                for: Schema(versionedSchema: New.self),
                migrationPlan: FailingPlan.self,
                configurations: configurations(New.Author.self, New.Book.self)
            )
        }
        #expect(failure.map { "\($0)".contains("The stores of 'first' have been updated") } == true)
        let context = try openNew()
        #expect(try context.fetch(FetchDescriptor<New.Author>()).map(\.title) == ["Ann"])
        #expect(try context.fetch(FetchDescriptor<New.Book>()).map(\.pages) == [12])
    }
}
