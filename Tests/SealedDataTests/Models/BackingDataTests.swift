import Foundation
import SealedData
import Testing

@Suite("Backing data") struct BackingDataTests {
    private typealias Trip = Itineraries.Trip

    @Test func `values are read and written by key path`() throws {
        let trip = Trip("Kyoto")
        trip.stops = [Itineraries.Stop("temple")]
        let data = trip.persistentBackingData
        #expect(data.persistentModelID == trip.persistentModelID)
        #expect(data.getValue(forKey: \.name) == "Kyoto")
        #expect(data.getValue(forKey: \.place) == nil)
        let stops: [Itineraries.Stop] = data.getValue(forKey: \.stops)
        #expect(stops.map(\.title) == ["temple"])
        data.setValue(forKey: \.name, to: "Nara")
        data.setTransformableValue(forKey: \.days, to: 3)
        #expect(trip.name == "Nara")
        #expect(data.getTransformableValue(forKey: \.days) == 3)
        #expect((data.metadata as? [Schema.PropertyMetadata])?.count == 12)
    }

    @Test func `a model is created from backing data`() throws {
        let data: some BackingData<Trip> = Trip.createBackingData()
        #expect(data.getValue(forKey: \.days) == 1)
        data.setValue(forKey: \.name, to: "Kyoto")
        data.setValue(forKey: \.place, to: Itineraries.Place(name: "station", latitude: 1))
        let trip = Trip(backingData: data)
        #expect(trip.name == "Kyoto")
        #expect(trip.place?.name == "station")
        #expect(trip.days == 1)
        #expect(trip.modelContext == nil)
    }

    @Test func `setting the backing data copies the values of another model`() throws {
        let (trip, other) = (Trip("Kyoto"), Trip("Oslo"))
        other.kind = .work
        other.tags = [Itineraries.Tag("cold")]
        trip.persistentBackingData = other.persistentBackingData
        #expect(trip.name == "Oslo")
        #expect(trip.kind == .work)
        #expect(trip.tags.map(\.label) == ["cold"])
        #expect(trip !== other)
    }
}
