import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Concurrent contexts of a data store") struct ConcurrentDataStoreTests {
    private let folder = TemporaryFolder()

    @ModelActor
    fileprivate actor Writer {
        func insert(_ names: [String]) throws {
            for name in names {
                let trip = Itineraries.Trip(name)
                modelContext.insert(trip)
                trip.stops.append(Itineraries.Stop("stop of \(name)"))
                try modelContext.save()
                _ = try modelContext.fetchCount(FetchDescriptor<Itineraries.Trip>())
            }
        }
    }

    @Test func `no save is lost`() async throws {
        let container = try ModelContainer(
            for: Itineraries.Trip.self,
            configurations: JSONStoreConfiguration(name: "Trips", fileURL: folder.file("trips.json"))
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                let writer = Writer(modelContainer: container)
                group.addTask { try await writer.insert((0..<5).map { "\(number).\($0)" }) }
            }
            try await group.waitForAll()
        }
        let context = ModelContext(container)
        let trips = try context.fetch(FetchDescriptor<Itineraries.Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(trips.count == 20)
        #expect(trips.allSatisfy { $0.stops.map(\.title) == ["stop of \($0.name)"] })
        #expect(Set(trips.map(\.persistentModelID)).count == 20)
    }
}
