import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

/// Three versions of an app: the second one makes titles unique, the third one splits a name into two and turns a raw
/// value into an enum.
private enum Notes {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self, Folder.self] }

        @Model
        final class Note {
            var title = ""
            var author = ""
            var state = 0
            var folder: Folder?
            init(_ title: String, author: String, state: Int) {
                self.title = title
                self.author = author
                self.state = state
            }
        }

        @Model
        final class Folder {
            var name = ""
            @Relationship(inverse: \Note.folder) var notes: [Note] = []
            init(_ name: String) { self.name = name }
        }
    }

    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self, Folder.self] }

        @Model
        final class Note {
            @Attribute(.unique) var title = ""
            var author = ""
            var state = 0
            var folder: Folder?
            init() {}
        }

        @Model
        final class Folder {
            var name = ""
            @Relationship(inverse: \Note.folder) var notes: [Note] = []
            init() {}
        }
    }

    /// A class of another program.
    @Model
    final class Unrelated {
        var text = ""
        init() {}
    }

    enum V3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self, Folder.self] }

        enum Status: String, Codable { case draft, done }

        @Model
        final class Note {
            @Attribute(.unique) var title = ""
            @Attribute(originalName: "author") var fullName = ""
            var givenName = ""
            var familyName = ""
            @Attribute(originalName: "state") var number = 0
            var status = Status.draft
            var pages = 1
            var folder: Folder?
            init() {}
        }

        @Model
        final class Folder {
            @Attribute(originalName: "name") var label = ""
            @Relationship(inverse: \Note.folder) var notes: [Note] = []
            init() {}
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] { [unique, split] }

        static let unique = MigrationStage.custom(
            fromVersion: V1.self,
            toVersion: V2.self,
            willMigrate: { context in
                var titles: Set<String> = []
                for note in try context.fetch(FetchDescriptor<V1.Note>(sortBy: [SortDescriptor(\.author)]))
                where !titles.insert(note.title).inserted { context.delete(note) }
                try context.save()
            },
            didMigrate: nil
        )

        static let split = MigrationStage.custom(
            fromVersion: V2.self,
            toVersion: V3.self,
            willMigrate: nil,
            didMigrate: { context in
                for note in try context.fetch(FetchDescriptor<V3.Note>()) {
                    let names = note.fullName.split(separator: " ", maxSplits: 1).map(String.init)
                    note.givenName = names.first ?? ""
                    note.familyName = names.count > 1 ? names[1] : ""
                    note.status = note.number == 1 ? .done : .draft
                }
                try context.save()
            }
        )
    }

    /// A plan whose first stage calls operations of its container that replace or close the file of a store.
    enum OperatingPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { Plan.schemas }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self,
                    toVersion: V2.self,
                    willMigrate: { context in
                        try operate(on: context.container)
                        if case .custom(_, _, let code?, _) = Plan.unique { try code(context) }
                    },
                    didMigrate: { try operate(on: $0.container) }
                ),
                Plan.split,
            ]
        }

        private static func operate(on container: ModelContainer) throws {
            #expect(throws: SealedStoreError.isMigrating(operation: "compact")) { try container.compact() }
            #expect(throws: SealedStoreError.isMigrating(operation: "changeKey")) {
                try container.changeKey(to: .passphrase("another key"))
            }
            container.lock()
            #expect(!container.isLocked)
            container.suspend()
            try container.resume()
        }
    }

    /// A plan whose last stage fails.
    enum FailingPlan: SchemaMigrationPlan {
        struct Failure: Error {}

        static var schemas: [any VersionedSchema.Type] { Plan.schemas }
        static var stages: [MigrationStage] {
            [
                Plan.unique,
                .custom(
                    fromVersion: V2.self,
                    toVersion: V3.self,
                    willMigrate: nil,
                    didMigrate: { context in
                        for note in try context.fetch(FetchDescriptor<V3.Note>()) { note.givenName = "lost" }
                        try context.save()
                        throw Failure()
                    }
                ),
            ]
        }
    }
}

@Suite("Migration plans") struct MigrationPlanTests {
    private let folder = TemporaryFolder()

    private let key: EncryptionKey

    init() throws {
        key = try .raw(Array(repeating: 7, count: 32))
    }

    private var configuration: ModelConfiguration { ModelConfiguration(url: folder.file("notes.store"), key: key) }

    private func open(
        _ version: any VersionedSchema.Type,
        _ plan: (any SchemaMigrationPlan.Type)? = Notes.Plan.self,
        _ configuration: ModelConfiguration? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version),
            migrationPlan: plan,
            configurations: configuration ?? self.configuration
        )
    }

    /// Creates a store of the first version with a duplicate title.
    private func makeFirstVersion() throws {
        let context = ModelContext(try open(Notes.V1.self, nil))
        let trips = Notes.V1.Folder("Trips")
        context.insert(trips)
        for (title, author, state) in [("Alps", "Ada Lovelace", 1), ("Alps", "Zed", 0), ("Sea", "Alan Turing", 0)] {
            let note = Notes.V1.Note(title, author: author, state: state)
            note.folder = trips
            context.insert(note)
        }
        try context.save()
    }

    private func expectThirdVersion(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let notes = try context.fetch(FetchDescriptor<Notes.V3.Note>(sortBy: [SortDescriptor(\.title)]))
        #expect(notes.map(\.title) == ["Alps", "Sea"])
        #expect(notes.map(\.givenName) == ["Ada", "Alan"])
        #expect(notes.map(\.familyName) == ["Lovelace", "Turing"])
        #expect(notes.map(\.status) == [.done, .draft])
        #expect(notes.map(\.pages) == [1, 1])
        #expect(notes.compactMap(\.folder?.label) == ["Trips", "Trips"])
        #expect(try context.fetch(FetchDescriptor<Notes.V3.Folder>()).first?.notes.count == 2)
        #expect(try context.storeProblems() == [])
    }

    @Test func `a store of the first version passes all stages`() throws {
        try makeFirstVersion()
        try expectThirdVersion(open(Notes.V3.self))
        try expectThirdVersion(open(Notes.V3.self))
    }

    @Test func `the functions of a stage cannot replace or close the file`() throws {
        try makeFirstVersion()
        try expectThirdVersion(open(Notes.V3.self, Notes.OperatingPlan.self))
    }

    @Test func `a stage that throws leaves the store at the version before it`() throws {
        try makeFirstVersion()
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try open(Notes.V3.self, Notes.FailingPlan.self)
        }
        #expect(error?.underlyingError is Notes.FailingPlan.Failure)
        do {
            let context = ModelContext(try open(Notes.V2.self, nil))
            #expect(
                try context.fetch(FetchDescriptor<Notes.V2.Note>(sortBy: [SortDescriptor(\.title)])).map(\.author)
                    == ["Ada Lovelace", "Alan Turing"]
            )
        }
        try expectThirdVersion(open(Notes.V3.self))
    }

    @Test func `a new store has the last version`() throws {
        let context = ModelContext(try open(Notes.V3.self))
        context.insert(Notes.V3.Note())
        try context.save()
        #expect(try ModelContext(open(Notes.V3.self)).fetchCount(FetchDescriptor<Notes.V3.Note>()) == 1)
    }

    @Test func `a store of a later version is refused and unchanged`() throws {
        try makeFirstVersion()
        _ = try open(Notes.V3.self)
        let before = try Data(contentsOf: configuration.url)
        #expect(throws: SwiftDataError.backwardMigration) {
            try ModelContainer(
                for: Schema(versionedSchema: Notes.V2.self),
                configurations: configuration
            )
        }
        #expect(try Data(contentsOf: configuration.url) == before)
    }

    @Test func `without a plan the differences are inferred`() throws {
        do {
            let context = ModelContext(try open(Notes.V1.self, nil))
            context.insert(Notes.V1.Note("Alps", author: "Ada", state: 1))
            try context.save()
        }
        let note = try #require(ModelContext(open(Notes.V3.self, nil)).fetch(FetchDescriptor<Notes.V3.Note>()).first)
        #expect(note.fullName == "Ada" && note.number == 1 && note.pages == 1 && note.status == .draft)
    }

    @Test func `a preview counts the rows that prevent the migration, and changes nothing`() throws {
        try makeFirstVersion()
        let before = try Data(contentsOf: configuration.url)
        let previews = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: Notes.V2.self),
            configurations: configuration
        )
        let problem = try #require(previews[configuration.url]?.problems.first)
        #expect(problem.entity == "Note" && problem.kind == .duplicates(properties: ["title"]))
        #expect(try Data(contentsOf: configuration.url) == before)
    }

    @Test func `without permission the differences are thrown`() throws {
        try makeFirstVersion()
        var configuration = configuration
        configuration.allowsMigration = false
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try open(Notes.V3.self, nil, configuration)
        }
        guard case SealedStoreError.modelMismatch(let differences)? = error?.underlyingError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(differences.contains { $0.contains("Note.pages") })
    }

    @Test func `a stage that skips a version is refused`() throws {
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { Notes.Plan.schemas }
            static var stages: [MigrationStage] { [.lightweight(fromVersion: Notes.V1.self, toVersion: Notes.V3.self)] }
        }
        #expect(throws: SwiftDataError.unknownSchema) { try open(Notes.V3.self, Plan.self) }
    }

    @Test func `two stages to one version are refused`() throws {
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { Notes.Plan.schemas }
            static var stages: [MigrationStage] {
                [.lightweight(fromVersion: Notes.V1.self, toVersion: Notes.V2.self)] + Notes.Plan.stages
            }
        }
        let error = #expect(throws: SwiftDataError.unknownSchema) { try open(Notes.V3.self, Plan.self) }
        #expect(error.map { "\($0)".contains("two stages to V2") } ?? false)
    }

    @Test func `versions that do not ascend are refused`() throws {
        enum Copied: VersionedSchema {
            static let versionIdentifier = Schema.Version(1, 0, 0)
            static var models: [any PersistentModel.Type] { Notes.V2.models }
        }
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Notes.V1.self, Copied.self] }
            static var stages: [MigrationStage] { [] }
        }
        #expect(throws: SwiftDataError.unknownSchema) { try open(Copied.self, Plan.self) }
    }

    @Test func `a program without a version does not migrate a store of a later version`() throws {
        try makeFirstVersion()
        _ = try open(Notes.V3.self)
        let before = try Data(contentsOf: configuration.url)
        #expect(throws: SwiftDataError.backwardMigration) { try open(Notes.V1.self, nil) }
        #expect(try Data(contentsOf: configuration.url) == before)
    }

    @Test func `a cancelled migration throws a cancellation error`() throws {
        try makeFirstVersion()
        var configuration = configuration
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        configuration.migrationProgress = progress
        // Also in place of the problems, which are found by reading all rows.
        for version in [Notes.V2.self, Notes.V3.self] as [any VersionedSchema.Type] {
            #expect(throws: CancellationError.self) { try open(version, nil, configuration) }
        }
        #expect(try ModelContext(open(Notes.V1.self, nil)).fetchCount(FetchDescriptor<Notes.V1.Note>()) == 3)
    }

    @Test func `a preview omits files that do not exist, and no others`() throws {
        let schema = Schema(versionedSchema: Notes.V2.self)
        #expect(try ModelContainer.migrationPreview(for: schema, configurations: configuration).isEmpty)
        try Data("no store".utf8).write(to: configuration.url)
        let below = ModelConfiguration(url: configuration.url.appending(path: "notes.store"), key: key)
        for configuration in [configuration, below] {
            #expect(throws: SwiftDataError.loadIssueModelContainer) {
                try ModelContainer.migrationPreview(for: schema, configurations: configuration)
            }
        }
    }

    @Test func `the remedy for a file of another program is another path`() throws {
        try makeFirstVersion()
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Notes.Unrelated.self, configurations: configuration)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("Check the path") && !text.contains("allowsMigration"), "\(text)")
    }

    @Test func `a plan's rule for duplicates keeps the first note in an order`() throws {
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Notes.V1.self, Notes.V2.self] }
            static var stages: [MigrationStage] { [] }
            static var duplicateRules: [DuplicateRule] {
                [.keepFirst(of: Notes.V2.Note.self, by: \.author, order: .reverse)]
            }
        }
        try makeFirstVersion()
        let context = ModelContext(try open(Notes.V2.self, Plan.self))
        let notes = try context.fetch(FetchDescriptor<Notes.V2.Note>(sortBy: [SortDescriptor(\.title)]))
        #expect(notes.map(\.author) == ["Zed", "Alan Turing"])
        #expect(try context.fetch(FetchDescriptor<Notes.V2.Folder>()).first?.notes.count == 2)
        #expect(try context.storeProblems() == [])
    }

    @Test func `a configuration's rule for duplicates applies without a plan`() throws {
        try makeFirstVersion()
        var configuration = configuration
        configuration.duplicateRules = [.keepFirst(of: Notes.V2.Note.self)]
        let context = ModelContext(try open(Notes.V2.self, nil, configuration))
        let notes = try context.fetch(FetchDescriptor<Notes.V2.Note>(sortBy: [SortDescriptor(\.title)]))
        #expect(notes.map(\.title) == ["Alps", "Sea"])
        #expect(try context.storeProblems() == [])
    }
}
