import Foundation
import SealedData
import SealedStore
import TestSupport
import Testing

/// Four versions: the second one only cleans data, the third one adds a property, the fourth one renames it.
private enum Ratings {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Place.self] }

        @Model final class Place {
            var name = ""
            init(_ name: String) { self.name = name }
        }
    }

    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Place.self] }

        @Model final class Place {
            var name = ""
            init() {}
        }
    }

    enum V3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Place.self] }

        @Model final class Place {
            @Attribute(.unique) var name = ""
            var rating = 3
            init() {}
        }
    }

    enum V4: VersionedSchema {
        static let versionIdentifier = Schema.Version(4, 0, 0)
        static var models: [any PersistentModel.Type] { [Place.self] }

        @Model final class Place {
            @Attribute(.unique) var name = ""
            @Attribute(originalName: "rating") var stars = 5
            init() {}
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self, V4.self] }
        static var stages: [MigrationStage] { [cleaned] }

        static let cleaned = MigrationStage.custom(
            fromVersion: V1.self,
            toVersion: V2.self,
            willMigrate: nil,
            didMigrate: { context in
                var names: Set<String> = []
                for place in try context.fetch(FetchDescriptor<V2.Place>())
                where !names.insert(place.name).inserted { context.delete(place) }
                try context.save()
            }
        )
    }
}

/// Two numbered versions that differ in a delete rule.
private enum Rules {
    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Owner.self, Item.self] }

        @Model final class Owner {
            @Relationship(deleteRule: .nullify, inverse: \Item.owner) var items: [Item] = []
            init() {}
        }

        @Model final class Item {
            var owner: Owner?
            init(_ owner: Owner?) { self.owner = owner }
        }
    }

    enum V3: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Owner.self, Item.self] }

        @Model final class Owner {
            @Relationship(deleteRule: .cascade, inverse: \Item.owner) var items: [Item] = []
            init() {}
        }

        @Model final class Item {
            var owner: Owner?
            init() {}
        }
    }
}

/// A place as a program had it between versions 3 and 4, with a property that only the last version has.
private enum Between {
    @Model final class Place {
        var name = ""
        var stars = 1
        init(_ name: String) { self.name = name }
    }
}

private enum LenientPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { Ratings.Plan.schemas }
    static var stages: [MigrationStage] { Ratings.Plan.stages }
    static var admitsUndeclaredVersions: Bool { true }
}

@Suite("Versions that differ in data and in default values") struct VersionStepTests {
    private let folder = TemporaryFolder()

    private func configuration() throws -> ModelConfiguration {
        ModelConfiguration(url: folder.file("places.store"), key: try .raw(Array(repeating: 7, count: 32)))
    }

    @Test(arguments: [false, true])
    func `functions run between equal schemas, and each version has its default values`(isVersioned: Bool) throws {
        do {
            let schema = isVersioned ? Schema(versionedSchema: Ratings.V1.self) : Schema([Ratings.V1.Place.self])
            let container = try ModelContainer(for: schema, configurations: [configuration()])
            let context = ModelContext(container)
            for name in ["a", "b", "a"] { context.insert(Ratings.V1.Place(name)) }
            try context.save()
        }
        for _ in 0..<2 {
            let container = try ModelContainer(
                for: Schema(versionedSchema: Ratings.V4.self),
                migrationPlan: Ratings.Plan.self,
                configurations: [configuration()]
            )
            let places = try ModelContext(container).fetch(
                FetchDescriptor<Ratings.V4.Place>(sortBy: [SortDescriptor(\.name)])
            )
            #expect(places.map(\.name) == ["a", "b"])
            #expect(places.map(\.stars) == [3, 3])
        }
    }

    @Test func `a store between two versions does not pass a stage whose functions did not run`() throws {
        do {
            let context = ModelContext(try ModelContainer(for: Between.Place.self, configurations: configuration()))
            for name in ["a", "b"] { context.insert(Between.Place(name)) }
            try context.save()
        }
        let open = { (plan: any SchemaMigrationPlan.Type) in
            let schema = Schema(versionedSchema: Ratings.V4.self)
            return try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration()])
        }
        for _ in 0..<2 {
            let error = #expect(throws: SwiftDataError.self) { try open(Ratings.Plan.self) }
            let text = String(describing: error)
            #expect(text.contains("version 2.0.0") && text.contains("admitsUndeclaredVersions"), "\(text)")
        }
        let lenient = try open(LenientPlan.self)
        #expect(try ModelContext(lenient).fetch(FetchDescriptor<Ratings.V4.Place>()).map(\.stars) == [1, 1])
        // The store has reached the last version.
        #expect(try ModelContext(open(Ratings.Plan.self)).fetchCount(FetchDescriptor<Ratings.V4.Place>()) == 2)
    }

    // containers of version 1       | container of version 2
    // opens, changes a place        |
    //                               | opens: cleans the places
    // saves, fetches: an error      |
    @Test func `a container of an earlier version does not write data of its version, even if the shape is the same`()
        throws
    {
        enum DataOnly: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Ratings.V1.self, Ratings.V2.self] }
            static var stages: [MigrationStage] { [Ratings.Plan.cleaned] }
        }
        let old = try ModelContainer(for: Schema(versionedSchema: Ratings.V1.self), configurations: [configuration()])
        let context = ModelContext(old)
        for name in ["a", "b", "a"] { context.insert(Ratings.V1.Place(name)) }
        try context.save()
        let place = try #require(try context.fetch(FetchDescriptor<Ratings.V1.Place>()).first)
        let same = try ModelContainer(for: Schema(versionedSchema: Ratings.V1.self), configurations: [configuration()])
        place.name = "changed"
        let schema = Schema(versionedSchema: Ratings.V2.self)
        let new = try ModelContainer(for: schema, migrationPlan: DataOnly.self, configurations: [configuration()])
        #expect(throws: SealedStoreError.migratedByAnotherProgram([])) { try context.save() }
        for container in [old, same] {
            #expect(throws: SealedStoreError.migratedByAnotherProgram([])) {
                try ModelContext(container).fetch(FetchDescriptor<Ratings.V1.Place>())
            }
            let other = ModelContext(container)
            other.insert(Ratings.V1.Place("c"))
            #expect(throws: SealedStoreError.migratedByAnotherProgram([])) { try other.save() }
        }
        let places = try ModelContext(new).fetch(FetchDescriptor<Ratings.V2.Place>(sortBy: [SortDescriptor(\.name)]))
        #expect(places.map(\.name) == ["a", "b"])
        let undeclared = try ModelContainer(for: Schema([Ratings.V2.Place.self]), configurations: [configuration()])
        #expect(try ModelContext(undeclared).fetchCount(FetchDescriptor<Ratings.V2.Place>()) == 2)
        let again = try ModelContainer(for: schema, migrationPlan: DataOnly.self, configurations: [configuration()])
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Ratings.V2.Place>()) == 2)
        #expect(try new.check().isSound)
    }

    @Test func `a container of an earlier version does not delete by its rules`() throws {
        let old = try ModelContainer(for: Schema(versionedSchema: Rules.V2.self), configurations: [configuration()])
        let context = ModelContext(old)
        let owner = Rules.V2.Owner()
        context.insert(owner)
        context.insert(Rules.V2.Item(owner))
        try context.save()
        context.delete(owner)
        let new = try ModelContainer(for: Schema(versionedSchema: Rules.V3.self), configurations: [configuration()])
        // The save reads the members, to which the rule applies: the error names them.
        #expect(throws: (any Error).self) { try context.save() }
        let reason = "the store is now of version 3.0.0 of the model"
        #expect(throws: SealedStoreError.migratedByAnotherProgram([reason])) {
            try ModelContext(old).fetch(FetchDescriptor<Rules.V2.Owner>())
        }
        let other = ModelContext(old)
        other.insert(Rules.V2.Owner())
        #expect(throws: SealedStoreError.migratedByAnotherProgram([reason])) { try other.save() }
        #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Schema(versionedSchema: Rules.V2.self), configurations: [configuration()])
        }
        #expect(try ModelContext(new).fetchCount(FetchDescriptor<Rules.V3.Owner>()) == 1)
        #expect(try new.check().isSound)
    }
}
