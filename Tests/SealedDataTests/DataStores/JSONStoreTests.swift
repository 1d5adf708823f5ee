import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Contexts on a JSON store") struct JSONStoreTests {
    private typealias Trip = Itineraries.Trip
    private typealias Stop = Itineraries.Stop
    private typealias Tag = Itineraries.Tag

    private let folder = TemporaryFolder()

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Trip.self,
            configurations: JSONStoreConfiguration(name: "Trips", fileURL: folder.file("trips.json"))
        )
    }

    private func contents() throws -> String {
        String(decoding: try Data(contentsOf: folder.file("trips.json")), as: UTF8.self)
    }

    /// Two trips: Kyoto with two stops and two tags, and Oslo with one stop and one of the tags.
    private func savedContext(_ container: ModelContainer) throws -> ModelContext {
        let context = ModelContext(container)
        let (kyoto, oslo) = (Trip("Kyoto"), Trip("Oslo"))
        kyoto.days = 7
        let (far, cold) = (Tag("far"), Tag("cold"))
        context.insert(kyoto)
        context.insert(oslo)
        kyoto.stops = [Stop("temple"), Stop("garden")]
        oslo.stops.append(Stop("fjord"))
        kyoto.tags = [far, cold]
        oslo.tags = [cold]
        try context.save()
        return context
    }

    private func trip(_ name: String, _ context: ModelContext) throws -> Trip {
        try #require(try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name })).first)
    }

    @Test func `a saved model has the identifier that the store assigned`() throws {
        let context = ModelContext(try container())
        let trip = Trip("Kyoto")
        context.insert(trip)
        #expect(trip.persistentModelID.storeIdentifier == nil)
        try context.save()
        #expect(trip.persistentModelID.storeIdentifier == "trips.json")
        #expect(trip.persistentModelID.entityName == "Trip")
        #expect(!context.hasChanges)
        #expect(context.model(for: trip.persistentModelID) === trip)
        #expect(context.registeredModel(for: trip.persistentModelID) as Trip? === trip)
    }

    @Test func `every kind of value survives a round trip through the file`() throws {
        let place = Itineraries.Place(name: "Kinkaku-ji", latitude: 35.0394)
        let code = UUID()
        do {
            let context = ModelContext(try container())
            let trip = Trip("Kyoto 金閣寺", start: Date(timeIntervalSinceReferenceDate: 700_000_000))
            trip.budget = Decimal(string: "1234567890.123456789012345")!
            trip.isBooked = true
            trip.kind = .work
            trip.place = place
            trip.photo = Data([0, 1, 255])
            trip.link = URL(string: "https://example.org/kyoto")
            trip.code = code
            context.insert(trip)
            try context.save()
        }
        let context = ModelContext(try container())
        let trip = try #require(try context.fetch(FetchDescriptor<Trip>()).first)
        #expect(trip.name == "Kyoto 金閣寺")
        #expect(trip.start == Date(timeIntervalSinceReferenceDate: 700_000_000))
        #expect(trip.budget == Decimal(string: "1234567890.123456789012345")!)
        #expect(trip.isBooked)
        #expect(trip.kind == .work)
        #expect(trip.place == place)
        #expect(trip.photo == Data([0, 1, 255]))
        #expect(trip.link?.absoluteString == "https://example.org/kyoto")
        #expect(trip.code == code)
        #expect(try contents().contains("2023-03-08T20:26:40Z"))
    }

    @Test func `relationships have both sides after reopening`() throws {
        _ = try savedContext(container())
        let context = ModelContext(try container())
        let kyoto = try trip("Kyoto", context)
        #expect(Set(kyoto.stops.map(\.title)) == ["temple", "garden"])
        #expect(kyoto.stops.allSatisfy { $0.trip === kyoto })
        let cold = try #require(
            try context.fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.label == "cold" })).first
        )
        #expect(Set(cold.trips.map(\.name)) == ["Kyoto", "Oslo"])
        #expect(kyoto.tags.contains { $0 === cold })
    }

    @Test func `predicates and sort descriptors are evaluated for the store`() throws {
        let context = try savedContext(container())
        var descriptor = FetchDescriptor<Stop>(
            predicate: #Predicate { $0.trip?.name == "Kyoto" },
            sortBy: [SortDescriptor(\.title)]
        )
        #expect(try context.fetch(descriptor).map(\.title) == ["garden", "temple"])
        #expect(try context.fetchCount(descriptor) == 2)
        descriptor.predicate = nil
        #expect(try context.fetch(descriptor).map(\.title) == ["fjord", "garden", "temple"])
        descriptor.sortBy = [SortDescriptor(\.title, order: .reverse)]
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["garden"])
        #expect(try context.fetchCount(descriptor) == 1)
    }

    @Test func `limits apply though the store does not support them`() throws {
        let context = try savedContext(container())
        var descriptor = FetchDescriptor<Stop>()
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 2
        let all = try context.fetch(FetchDescriptor<Stop>())
        #expect(try context.fetch(descriptor) == [all[2]])
        #expect(try context.fetchCount(descriptor) == 1)
        #expect(try context.fetchIdentifiers(descriptor) == [all[2].persistentModelID])
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
        #expect(try Set(context.fetchIdentifiers(FetchDescriptor<Trip>()).map(\.entityName)) == ["Trip"])
    }

    @Test func `a fetch without a sort returns the same order every time`() throws {
        let context = try savedContext(container())
        let first = try context.fetch(FetchDescriptor<Stop>())
        for _ in 0..<10 { #expect(try context.fetch(FetchDescriptor<Stop>()) == first) }
    }

    @Test func `predicates name models and identifiers`() throws {
        let context = try savedContext(container())
        let kyoto = try trip("Kyoto", context)
        let id = kyoto.persistentModelID
        #expect(try context.fetchCount(FetchDescriptor<Stop>(predicate: #Predicate { $0.trip == kyoto })) == 2)
        #expect(
            try context.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0.persistentModelID == id })) == 1
        )
        let ids = [id]
        let others = FetchDescriptor<Trip>(predicate: #Predicate { !ids.contains($0.persistentModelID) })
        #expect(try context.fetch(others).map(\.name) == ["Oslo"])
    }

    @Test func `updates of attributes and relationships are saved`() throws {
        let context = try savedContext(container())
        let (kyoto, oslo) = (try trip("Kyoto", context), try trip("Oslo", context))
        let temple = try #require(kyoto.stops.first { $0.title == "temple" })
        kyoto.name = "Nara"
        temple.trip = oslo
        oslo.tags = []
        try context.save()
        let other = ModelContext(try container())
        #expect(Set(try trip("Oslo", other).stops.map(\.title)) == ["temple", "fjord"])
        #expect(try trip("Nara", other).stops.map(\.title) == ["garden"])
        #expect(try trip("Oslo", other).tags.isEmpty)
        let tags = try other.fetch(FetchDescriptor<Tag>())
        #expect(tags.allSatisfy { $0.trips.map(\.name) == ["Nara"] })
    }

    @Test func `a deletion follows the delete rules`() throws {
        let context = try savedContext(container())
        context.delete(try trip("Kyoto", context))
        try context.save()
        let other = ModelContext(try container())
        #expect(try other.fetch(FetchDescriptor<Stop>()).map(\.title) == ["fjord"])
        #expect(try other.fetch(FetchDescriptor<Tag>()).flatMap(\.trips).map(\.name) == ["Oslo"])
        #expect(try !contents().contains("Kyoto"))
    }

    @Test func `models are deleted by predicate`() throws {
        let context = try savedContext(container())
        try context.delete(model: Stop.self, where: #Predicate { $0.trip?.name == "Kyoto" })
        #expect(context.hasChanges)
        try context.save()
        let other = ModelContext(try container())
        #expect(try other.fetch(FetchDescriptor<Stop>()).map(\.title) == ["fjord"])
        #expect(try trip("Kyoto", other).stops.isEmpty)
    }

    @Test func `fetches include unsaved changes`() throws {
        let context = try savedContext(container())
        let oslo = try trip("Oslo", context)
        oslo.name = "Bergen"
        context.insert(Trip("Arles"))
        let names = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        #expect(names == ["Arles", "Bergen", "Kyoto"])
        context.rollback()
        #expect(oslo.name == "Oslo")
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
    }

    @Test func `an encoded identifier is valid in another process`() throws {
        let id = try trip("Kyoto", savedContext(container())).persistentModelID
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
        #expect(decoded == id)
        let context = ModelContext(try container())
        #expect((context.model(for: decoded) as? Trip)?.name == "Kyoto")
    }

    @Test func `an identifier without a snapshot identifies a deleted model`() throws {
        let context = ModelContext(try container())
        let id = try PersistentIdentifier.identifier(for: "trips.json", entityName: "Trip", primaryKey: "missing")
        let trip = try #require(context.model(for: id) as? Trip)
        #expect(trip.name.isEmpty)
        #expect(trip.isDeleted)
        #expect(trip.persistentModelID == id)
    }

    @Test func `two contexts of a container merge each other's saves`() throws {
        let container = try container()
        let first = try savedContext(container)
        let second = ModelContext(container)
        let kyoto = try trip("Kyoto", second)
        try trip("Kyoto", first).days = 9
        try first.save()
        #expect(try second.fetchCount(FetchDescriptor<Trip>()) == 2)
        #expect(kyoto.days == 9)
    }

    @Test func `the next fetch includes foreign changes of the file`() throws {
        let context = try savedContext(container())
        let kyoto = try trip("Kyoto", context)
        let other = ModelContext(try container())
        try trip("Kyoto", other).days = 12
        try other.save()
        _ = try context.fetch(FetchDescriptor<Trip>())
        #expect(kyoto.days == 12)
    }

    @Test func `concurrent changes of one model are merged as in any store`() throws {
        let container = try container()
        let first = try savedContext(container)
        let second = ModelContext(container)
        let (mine, theirs) = (try trip("Kyoto", first), try trip("Kyoto", second))
        mine.days = 3
        theirs.isBooked = true
        try first.save()
        try second.save()
        let other = ModelContext(try self.container())
        #expect(try trip("Kyoto", other).days == 3)
        #expect(try trip("Kyoto", other).isBooked)
    }

    @Test(arguments: [false, true])
    func `a reference to a model that another container has deleted is not saved`(isToMany: Bool) throws {
        let context = try savedContext(try container())
        let oslo = try trip("Oslo", context)
        let far = try #require(try trip("Kyoto", context).tags.first { $0.label == "far" })
        let stop = Stop("harbour")
        let elsewhere = ModelContext(try container())
        elsewhere.delete(try #require(try elsewhere.fetch(FetchDescriptor<Tag>()).first { $0.label == "far" }))
        elsewhere.delete(try trip("Oslo", elsewhere))
        try elsewhere.save()
        if isToMany {
            let kyoto = try trip("Kyoto", context)
            kyoto.days = 8
            kyoto.tags = [far]
        } else {
            context.insert(stop)
            stop.trip = oslo
        }
        try context.save()
        let fresh = ModelContext(try container())
        if isToMany {
            #expect(try trip("Kyoto", fresh).tags.isEmpty)
            #expect(try trip("Kyoto", fresh).days == 8)
        } else {
            #expect(try fresh.fetch(FetchDescriptor<Stop>()).first { $0.title == "harbour" }?.trip == nil)
        }
    }

    @Test func `a model of which a store returns several snapshots counts once`() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Trip.self,
                configurations: RepeatingStoreConfiguration(name: "Trips", fileURL: folder.file("trips.json"))
            )
        )
        for name in ["Kyoto", "Oslo"] { context.insert(Trip(name)) }
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
        #expect(try context.fetchIdentifiers(FetchDescriptor<Trip>()).count == 2)
        #expect(try context.fetch(FetchDescriptor<Trip>()).count == 2)
    }

    @Test func `relationships of a store that assigns no identifiers remain`() throws {
        let container = try ModelContainer(
            for: Trip.self,
            configurations: RepeatingStoreConfiguration(
                name: "Trips",
                isAssigning: false,
                fileURL: folder.file("t.json")
            )
        )
        let context = ModelContext(container)
        let kyoto = Trip("Kyoto")
        context.insert(kyoto)
        kyoto.stops = [Stop("temple"), Stop("garden")]
        kyoto.tags = [Tag("far")]
        try context.save()
        let other = ModelContext(container)
        let found = try trip("Kyoto", other)
        #expect(Set(found.stops.map(\.title)) == ["temple", "garden"])
        #expect(found.tags.map(\.label) == ["far"])
        #expect(found.stops.allSatisfy { $0.trip === found })
    }

    @Test func `an erased store is empty`() throws {
        let container = try container()
        let context = try savedContext(container)
        let kyoto = try trip("Kyoto", context)
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 0)
        #expect(kyoto.isDeleted)
    }

    @Test func `a damaged file is an error of every fetch and stays unchanged`() throws {
        let context = try savedContext(container())
        try Data("nonsense".utf8).write(to: folder.file("trips.json"))
        #expect(throws: DecodingError.self) { try context.fetch(FetchDescriptor<Trip>()) }
        context.insert(Trip("Rome"))
        #expect(throws: DecodingError.self) { try context.save() }
        #expect(context.hasChanges)
    }

    @Test func `a value of a wrong type is an error`() throws {
        _ = try savedContext(container())
        let text = try contents().replacing("\"days\" : 7", with: "\"days\" : \"seven\"")
        try Data(text.utf8).write(to: folder.file("trips.json"))
        let context = ModelContext(try container())
        let error = #expect(throws: DecodingError.self) { try context.fetch(FetchDescriptor<Trip>()) }
        #expect("\(String(describing: error))".contains("Trip.days"))
    }
}
