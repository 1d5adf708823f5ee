import Foundation
import SealedData
import Testing

@Suite("Snapshots of models") struct DefaultSnapshotTests {
    private typealias Trip = Itineraries.Trip

    private func snapshot<Model: PersistentModel>(_ model: Model) -> DefaultSnapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return DefaultSnapshot(from: model.persistentBackingData, relatedBackingDatas: &related)
    }

    private func text(_ snapshot: DefaultSnapshot) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(snapshot), as: UTF8.self)
    }

    @Test func `the JSON form is an object of the properties by name`() throws {
        let id = try PersistentIdentifier.identifier(for: "store", entityName: "Stop", primaryKey: 7)
        let stop = Itineraries.Stop("temple")
        let text = try text(snapshot(stop).copy(persistentIdentifier: id))
        #expect(
            text == #"{"persistentIdentifier":{"entityName":"Stop","primaryKey":7,"storeIdentifier":"store"},"#
                + #""title":"temple","trip":null}"#
        )
    }

    @Test func `decoding and encoding again changes nothing`() throws {
        let trip = Trip("Kyoto", start: Date(timeIntervalSinceReferenceDate: 0.1))
        trip.place = Itineraries.Place(name: "a \"quoted\" /path/", latitude: -0.0)
        trip.budget = Decimal(string: "-12345678901234567890.123456789")!
        trip.photo = Data((0...255).map(UInt8.init))
        trip.stops = [Itineraries.Stop("temple")]
        let first = try text(snapshot(trip))
        let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: Data(first.utf8))
        #expect(try text(decoded) == first)
    }

    @Test func `identifiers are replaced in decoded snapshots too`() throws {
        let stop = Itineraries.Stop("temple")
        let trip = Trip("Kyoto")
        stop.trip = trip
        let new = try PersistentIdentifier.identifier(for: "s", entityName: "Trip", primaryKey: UUID())
        let encoded = try JSONEncoder().encode(snapshot(stop))
        let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: encoded)
        let remapped = [trip.persistentModelID: new]
        for snapshot in [snapshot(stop), decoded] {
            let copy = snapshot.copy(
                persistentIdentifier: stop.persistentModelID,
                remappedIdentifiers: remapped
            )
            #expect(try text(copy).contains("\(new.storeIdentifier!)"))
        }
    }

    @Test func `every date and data strategy of the coders is decoded`() throws {
        let trip = Trip("Kyoto", start: Date(timeIntervalSinceReferenceDate: 1000))
        trip.photo = Data([1, 2, 3])
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.dataEncodingStrategy = .deferredToData
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.dataDecodingStrategy = .deferredToData
        let decoded = try decoder.decode(DefaultSnapshot.self, from: encoder.encode(snapshot(trip)))
        let store = try DefaultStore(ModelConfiguration(for: Trip.self, isStoredInMemoryOnly: true))
        let result = try store.save(DataStoreSaveChangesRequest(inserted: [decoded]))
        let id = try #require(result.remappedIdentifiers.values.first)
        let saved = try #require(try store.cachedSnapshots(for: [id], editingState: EditingState())[id])
        #expect(try text(saved).contains(#""photo":"AQID""#))
        #expect(try text(saved).contains(#""start":1000"#))
    }

    @Test func `a snapshot can be encoded as a property list`() throws {
        let trip = Trip("Kyoto", start: Date(timeIntervalSinceReferenceDate: 1000))
        trip.photo = Data([1, 2, 3])
        let encoded = try PropertyListEncoder().encode(snapshot(trip))
        let decoded = try PropertyListDecoder().decode(DefaultSnapshot.self, from: encoded)
        let store = try DefaultStore(ModelConfiguration(for: Trip.self, isStoredInMemoryOnly: true))
        let result = try store.save(DataStoreSaveChangesRequest(inserted: [decoded]))
        let id = try #require(result.remappedIdentifiers.values.first)
        let saved = try #require(try store.cachedSnapshots(for: [id], editingState: EditingState())[id])
        #expect(try text(saved).contains(#""photo":"AQID""#))
        #expect(try text(saved).contains(#""start":1000"#))
    }

    @Test func `every text can be a coding key`() {
        typealias Key = DataStoreSnapshotCodingKey
        #expect(Key(stringValue: "title") == .modeledProperty("title"))
        #expect(Key(stringValue: "persistentIdentifier") == .persistentIdentifier)
        #expect(Key(intValue: 1) == nil)
        for name in ["title", "persistentIdentifier", "modeledProperty.persistentIdentifier", ""] {
            let key = Key.modeledProperty(name)
            #expect(Key(stringValue: key.stringValue) == key)
        }
    }
}
