import Testing

@testable import SealedData

@Suite("Versions of a schema")
struct SchemaVersionTests {
    @Test func `versions are compared number by number`() {
        #expect(Schema.Version(1, 9, 9) < Schema.Version(2, 0, 0))
        #expect(Schema.Version(1, 2, 9) < Schema.Version(1, 10, 0))
        #expect(Schema.Version(1, 2, 3) < Schema.Version(1, 2, 4))
        #expect(!(Schema.Version(1, 2, 3) < Schema.Version(1, 2, 3)))
        #expect("\(Schema.Version(1, 2, 3))" == "1.2.3")
    }

    @Test func `a schema has the version and classes of its versioned schema`() {
        let schema = Schema(versionedSchema: LibraryV2.self)
        #expect(schema.version == Schema.Version(2, 0, 0))
        #expect(schema.entity(for: LibraryV2.Book.self)?.attributesByName["subtitle"] != nil)
        #expect(Schema(versionedSchema: LibraryV1.self) != schema)
    }

    @Test func `a plan lists its versions and stages`() {
        #expect(LibraryPlan.schemas.map { $0.versionIdentifier.major } == [1, 2])
        #expect(LibraryPlan.stages.count == 1)
    }
}

private enum LibraryV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    @Model final class Book {
        var title = ""
        init() {}
    }
}

private enum LibraryV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }

    @Model final class Book {
        var title = ""
        var subtitle: String?
        init() {}
    }
}

private enum LibraryPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LibraryV1.self, LibraryV2.self] }
    static var stages: [MigrationStage] { [fillSubtitles] }

    static let fillSubtitles = MigrationStage.custom(
        fromVersion: LibraryV1.self,
        toVersion: LibraryV2.self,
        willMigrate: nil,
        didMigrate: { context in _ = context }
    )
}
