import Foundation
import SealedData
import TestSupport
import Testing

@Suite("The talk about trips")
struct TripTests {
    private let folder = TemporaryFolder()

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Trip.self,
            LivingAccommodation.self,
            configurations: ModelConfiguration(
                url: folder.file("trips.store"),
                key: .passphrase("trips")
            )
        )
    }

    private func withContainer(_ body: (ModelContainer) throws -> Void) throws {
        try body(container())
    }

    @Test func `a container with a schema only is created in the default folder`() async {
        await #expect(processExitsWith: .success) {
            try await withDefaultStores {
                let container = try ModelContainer(for: Trip.self, LivingAccommodation.self)
                #expect(
                    Set(container.schema.entities.map(\.name)) == ["Trip", "LivingAccommodation", "BucketListItem"]
                )
                let url = try #require(container.configurations.first?.url)
                #expect(FileManager.default.fileExists(atPath: url.path))
            }
        }
    }

    @Test func `the predicate finds future birthday trips to New York`() throws {
        try withContainer { container in
            let context = ModelContext(container)
            let (past, future) = (Date(timeIntervalSinceNow: -86400), Date(timeIntervalSinceNow: 86400))
            context.insert(Trip(name: "birthday of A", destination: "New York", startDate: future))
            context.insert(Trip(name: "a birthday", destination: "New York", startDate: future))
            context.insert(Trip(name: "last birthday", destination: "New York", startDate: past))
            context.insert(Trip(name: "birthday elsewhere", destination: "Kyoto", startDate: future))
            context.insert(Trip(name: "fair", destination: "New York", startDate: future))
            try context.save()

            let today = Date()
            let tripPredicate = #Predicate<Trip> {
                $0.destination == "New York" && $0.name.contains("birthday") && $0.startDate > today
            }
            let descriptor = FetchDescriptor<Trip>(predicate: tripPredicate)
            let trips = try context.fetch(descriptor)
            #expect(trips.map(\.name) == ["birthday of A", "a birthday"])

            // The talk has the two arguments in the other order.
            let sorted = FetchDescriptor<Trip>(
                predicate: tripPredicate,
                sortBy: [SortDescriptor(\Trip.name)]
            )
            #expect(try context.fetch(sorted).map(\.name) == ["a birthday", "birthday of A"])
        }
    }

    @Test func `a trip is inserted, changed, saved and deleted with its bucket list`() throws {
        try withContainer { container in
            let context = ModelContext(container)
            let myTrip = Trip(name: "Birthday Trip", destination: "New York")
            myTrip.bucketList?.append(BucketListItem(title: "skyline"))
            myTrip.livingAccommodation = LivingAccommodation(street: "5th", rooms: [1, 2])

            // Insert a new trip
            context.insert(myTrip)
            try context.save()
            myTrip.destination = "Boston"
            #expect(context.hasChanges)
            try context.save()

            let reader = ModelContext(container)
            let read = try #require(try reader.all(Trip.self).first)
            #expect((read.name, read.destination) == ("Birthday Trip", "Boston"))
            #expect(read.bucketList?.map(\.title) == ["skyline"])
            #expect(read.bucketList?.first?.trip === read)
            #expect(read.livingAccommodation?.address == .init(street: "5th", rooms: [1, 2]))

            // Delete an existing trip
            context.delete(myTrip)
            // Manually save changes to the context
            try context.save()
            let empty = ModelContext(container)
            #expect(try empty.all(Trip.self).isEmpty)
            #expect(try empty.all(BucketListItem.self).isEmpty)
            #expect(try empty.all(LivingAccommodation.self).count == 1)
        }
    }

    @Test func `a trip with an existing name updates the existing trip`() throws {
        try withContainer { container in
            let context = ModelContext(container)
            context.insert(Trip(name: "Birthday Trip", destination: "New York"))
            try context.save()
            context.insert(Trip(name: "Birthday Trip", destination: "Kyoto"))
            try context.save()
            #expect(try ModelContext(container).all(Trip.self).map(\.destination) == ["Kyoto"])
        }
    }

    @Test func `a fetch can exclude unsaved models and limit its results`() throws {
        try withContainer { container in
            let context = ModelContext(container)
            for name in ["a", "b", "c"] { context.insert(Trip(name: name, destination: "d")) }
            try context.save()
            context.insert(Trip(name: "d", destination: "d"))
            var descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\Trip.name)])
            descriptor.relationshipKeyPathsForPrefetching = [\.bucketList, \.livingAccommodation]
            #expect(try context.fetch(descriptor).map(\.name) == ["a", "b", "c", "d"])
            descriptor.includePendingChanges = false
            #expect(try context.fetch(descriptor).map(\.name) == ["a", "b", "c"])
            descriptor.fetchLimit = 2
            #expect(try context.fetch(descriptor).map(\.name) == ["a", "b"])
        }
    }
}
