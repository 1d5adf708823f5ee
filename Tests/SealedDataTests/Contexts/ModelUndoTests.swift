import Foundation
import SealedData
import Testing

@Suite("Undo of model changes") struct ModelUndoTests {
    @Model
    final class Trip {
        var name: String
        var days: [Int]
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

        init(name: String, days: [Int] = []) {
            self.name = name
            self.days = days
        }
    }

    @Model
    final class Stop {
        var place: String
        var trip: Trip?

        init(place: String) {
            self.place = place
        }
    }

    private let container = try! ModelContainer(
        for: Trip.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    private func trip(in context: ModelContext) throws -> Trip {
        let trip = Trip(name: "Kyoto", days: [1, 2])
        context.insert(trip)
        trip.stops = [Stop(place: "Uji"), Stop(place: "Arashiyama")]
        try context.save()
        context.undoManager = UndoManager()
        return trip
    }

    @Test func `attributes, including Codable ones`() throws {
        let context = ModelContext(container)
        let trip = try trip(in: context)
        trip.name = "Nara"
        trip.days = [3]
        trip.days.append(4)
        context.undoManager?.undo()
        #expect(trip.name == "Kyoto")
        #expect(trip.days == [1, 2])
        #expect(!context.hasChanges)
        context.undoManager?.redo()
        #expect(trip.days == [3, 4])
        try context.save()
        context.undoManager?.undo()
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Trip>()).map(\.days) == [[1, 2]])
    }

    @Test func `relationships that are changed in place`() throws {
        let context = ModelContext(container)
        let trip = try trip(in: context)
        let stop = Stop(place: "Fushimi")
        trip.stops.append(stop)
        trip.stops.removeFirst()
        context.undoManager?.undo()
        #expect(Set(trip.stops.map(\.place)) == ["Uji", "Arashiyama"])
        #expect(!context.hasChanges)
        context.undoManager?.redo()
        #expect(Set(trip.stops.map(\.place)) == ["Arashiyama", "Fushimi"])
        #expect(stop.trip === trip)
    }

    @Test func `a saved deletion with its cascade`() throws {
        let context = ModelContext(container)
        let trip = try trip(in: context)
        let id = trip.persistentModelID
        context.delete(trip)
        try context.save()
        context.undoManager?.undo()
        try context.save()
        #expect(trip.persistentModelID == id)
        #expect(!trip.isDeleted)
        let reader = ModelContext(container)
        let found = try #require(try reader.fetch(FetchDescriptor<Trip>()).first)
        #expect(found.name == "Kyoto")
        #expect(Set(found.stops.map(\.place)) == ["Uji", "Arashiyama"])
    }
}
