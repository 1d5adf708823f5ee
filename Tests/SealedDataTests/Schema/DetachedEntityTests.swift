import ObjectGraph
import Testing

@testable import SealedData

@Suite("The entities of objects outside any container")
struct DetachedEntityTests {
    @Test func `classes reached from another class share its model`() {
        let trip = DetachedEntities.entity(for: Journeys.Journey.self)
        let leg = DetachedEntities.entity(for: Journeys.Leg.self)
        #expect(trip.relationship(named: "legs")?.destination === leg)
        #expect(leg.relationship(named: "journey")?.inverse?.source === trip)
    }

    @Test func `a class has one entity on all threads`() async {
        let entities = await withTaskGroup(of: Entity.self) { group in
            for _ in 0..<50 { group.addTask { DetachedEntities.entity(for: Journeys.Ticket.self) } }
            return await group.reduce(into: Set<Entity>()) { $0.insert($1) }
        }
        #expect(entities.count == 1)
    }

    @Test func `a class that reaches a known class later does not change its entity`() {
        let ticket = DetachedEntities.entity(for: Journeys.Ticket.self)
        let wallet = DetachedEntities.entity(for: Journeys.Wallet.self)
        #expect(DetachedEntities.entity(for: Journeys.Ticket.self) === ticket)
        #expect(wallet.relationship(named: "ticket")?.destination.name == "Ticket")
    }

    @Test func `invalid constraints are ignored here`() {
        let entity = DetachedEntities.entity(for: Faults.Report.self)
        #expect(entity.properties.map(\.name) == ["pages"])
    }
}

private enum Journeys {
    @Model final class Journey {
        @Relationship(inverse: \Leg.journey) var legs: [Leg] = []
        init() {}
    }

    @Model final class Leg {
        var journey: Journey?
        init() {}
    }

    @Model final class Ticket {
        var number = 0
        init() {}
    }

    @Model final class Wallet {
        var ticket: Ticket?
        init() {}
    }
}
