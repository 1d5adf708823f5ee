import Foundation
@testable import SealedData
import TestSupport

/// Models for tests of live results.
enum Live {
    @Model
    final class Town {
        var name: String
        @Relationship(deleteRule: .nullify, inverse: \Station.town) var stations: [Station] = []

        init(name: String) { self.name = name }
    }

    @Model
    final class Station {
        enum Kind: String, Codable { case bus, train }

        var name: String
        var line: String?
        var platforms: Int
        var kind = Kind.train
        var town: Town?
        /// Without an inverse relationship.
        var company: Company?

        init(_ name: String, line: String? = nil, platforms: Int = 1, town: Town? = nil) {
            self.name = name
            self.line = line
            self.platforms = platforms
            self.town = town
        }
    }

    @Model
    final class Company {
        var name: String

        init(name: String) { self.name = name }
    }

    static func container() throws -> ModelContainer {
        try ModelContainer(for: Station.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    static func container(in folder: TemporaryFolder) throws -> ModelContainer {
        let configuration = ModelConfiguration(
            url: folder.file("stations.sealed"),
            key: .ofTests
        )
        return try ModelContainer(for: Station.self, configurations: configuration)
    }

    @ModelActor
    actor Writer {
        func insert(_ names: [String]) throws {
            for name in names { modelContext.insert(Station(name)) }
            try modelContext.save()
        }

        func rename(_ old: String, to new: String) throws {
            let stations = try modelContext.fetch(FetchDescriptor<Station>(predicate: #Predicate { $0.name == old }))
            for station in stations { station.name = new }
            try modelContext.save()
        }
    }

    /// An actor that observes results with a separate context.
    actor Reader {
        private let container: ModelContainer
        private var observer: ResultsObserver<Station, Never>?

        init(_ container: ModelContainer) { self.container = container }

        var names: [String] { observer?.results.map(\.name) ?? [] }

        func changes() throws -> ResultsChangeSequence {
            let observer = try ResultsObserver<Station, Never>(
                sortBy: [SortDescriptor(\.name)],
                modelContainer: container
            )
            self.observer = observer
            return observer.changes()
        }
    }
}

extension ResultsObserver {
    var identifiers: [PersistentIdentifier] { results.map(\.persistentModelID) }
}
