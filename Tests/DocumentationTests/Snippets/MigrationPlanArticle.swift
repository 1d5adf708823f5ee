// swift-format-ignore-file
// The Swift code of the article about migration plans, line by line: a test compares.

import SealedData

enum MigrationPlanArticle {
    @Model final class Trip {
        @Attribute(originalName: "title") var name = ""
        var days = 1
        var rating: Double?
        init() {}
    }

    @Model(originalName: "Stop") final class Place {
        @Attribute(originalName: "title") var name = ""
        init() {}
    }

    static func rules(_ key: EncryptionKey) -> ModelConfiguration {
        var configuration = ModelConfiguration("Places", key: key)
        configuration.duplicateRules = [.keepFirst(of: Place.self, by: \.name, order: .reverse)]
        return configuration
    }

    static func open(_ configuration: ModelConfiguration) throws -> ModelContainer {
        let container = try ModelContainer(for: Trip.self, configurations: configuration)
        return container
    }

    enum TripsV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self] }

        @Model final class Trip {
            var code = ""
            init() {}
        }
    }

    enum TripsV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self] }

        @Model final class Trip {
            @Attribute(.unique) var code = ""
            init() {}
        }
    }

    enum TripsPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self] }
        static var stages: [MigrationStage] { [uniqueCodes] }

        static let uniqueCodes = MigrationStage.custom(
            fromVersion: TripsV1.self, toVersion: TripsV2.self,
            willMigrate: { context in
                var codes: Set<String> = []
                for trip in try context.fetch(FetchDescriptor<TripsV1.Trip>()) where !codes.insert(trip.code).inserted {
                    context.delete(trip)
                }
                try context.save()
            },
            didMigrate: nil)
    }
}
