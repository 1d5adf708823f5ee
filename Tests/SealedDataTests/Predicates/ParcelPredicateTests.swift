import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData
@testable import SealedStore

/// Predicates and sort descriptors about structures and enumerations, as Foundation evaluates them, in memory and in
/// SQL.
@Suite struct ParcelPredicateTests {
    typealias Parcel = Post.Parcel

    private func withParcels(_ body: (ModelContext, [Parcel]) throws -> Void) throws {
        let container = try ModelContainer(
            for: Parcel.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        context.autosaveEnabled = false
        let parcels = Post.parcels()
        for parcel in parcels { context.insert(parcel) }
        try body(context, parcels)
        try context.save()
        try body(ModelContext(container), parcels)
    }

    /// The names of the parcels for which a predicate is true; Foundation and the store must agree.
    private func expect(
        _ predicate: Predicate<Parcel>,
        _ names: [String],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try withParcels { context, parcels in
            let expected = try parcels.filter { try predicate.evaluate($0) }.map(\.name)
            #expect(expected == names, "Foundation", sourceLocation: location)
            let found = try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
            #expect(found == names, sourceLocation: location)
        }
    }

    private func expect(
        _ sort: SortDescriptor<Parcel>,
        _ names: [String],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try withParcels { context, parcels in
            #expect(parcels.sorted(using: sort).map(\.name) == names, "Foundation", sourceLocation: location)
            let found = try context.fetch(FetchDescriptor(sortBy: [sort])).map(\.name)
            #expect(found == names, sourceLocation: location)
        }
    }

    // MARK: Structures that refuse placeholder values

    @Test func `members of a structure that refuses most values, under exchanged coding keys`() throws {
        try expect(#Predicate { $0.box?.label == "tea" }, ["A"])
        try expect(#Predicate { ($0.box?.weight ?? 0) > 2 }, ["A", "B"])
        let sent = Post.State.sent
        try expect(#Predicate { $0.box?.state == sent }, ["B"])
        let high = Post.Urgency.high
        try expect(#Predicate { $0.box?.urgency == high }, ["C"])
    }

    @Test func `the raw value of an enumeration and of a structure that lists no cases`() throws {
        let raw = "s"
        try expect(#Predicate { $0.state.rawValue == raw }, ["B"])
        try expect(#Predicate { $0.tag.rawValue == "x" }, ["A", "C"])
        try expect(#Predicate { $0.tag.rawValue.contains("y") }, ["B"])
        try expect(#Predicate { $0.box?.state.rawValue == raw }, ["B"])
    }

    // MARK: Whole values

    @Test func `a structure equals a captured one in any form of its numbers and texts`() throws {
        let place = Post.Place(town: "Zu\u{308}rich")
        try expect(#Predicate { $0.origin == place }, ["A", "C"])
        try expect(#Predicate { $0.origin != place }, ["B", "D"])
        let stop = Post.Place(town: "Gene\u{300}ve", latitude: 0.1)
        try expect(#Predicate { $0.stops.contains(stop) }, ["A"])
        let places = [Post.Place(town: "Bern"), Post.Place(town: "Basel")]
        try expect(#Predicate { places.contains($0.origin) }, ["B", "D"])
    }

    @Test func `associated values of an enumeration are compared`() throws {
        let status = Post.Status.returned(reason: "e\u{301}", at: Post.Place(town: "Chur"))
        try expect(#Predicate { $0.status == status }, ["A"])
        let other = Post.Status.returned(reason: "f", at: Post.Place(town: "Chur"))
        try expect(#Predicate { $0.status == other }, [])
    }

    @Test func `arrays are compared in their order`() throws {
        let prices = [0.1, 2]
        try expect(#Predicate { $0.prices == prices }, ["A"])
        let names = ["\u{e9}", "b"]
        try expect(#Predicate { $0.names == names }, ["A"])
        let none: [String] = []
        try expect(#Predicate { $0.names == none }, ["B", "C", "D"])
    }

    // MARK: Captured collections

    @Test func `a property can be the key of a captured dictionary`() throws {
        let weights = ["A": 1, "B": 2, "C": 2]
        try expect(#Predicate { weights[$0.name] == 2 }, ["B", "C"])
        try expect(#Predicate { weights[$0.name] == nil }, ["D"])
        try expect(#Predicate { weights[$0.name, default: 0] < 2 }, ["A", "D"])
        let many = Dictionary(uniqueKeysWithValues: (0..<600).map { ("\($0)", $0) } + [("C", 5000)])
        try expect(#Predicate { (many[$0.name] ?? 0) > 4000 }, ["C"])
    }

    @Test func `a captured list is filtered before it is translated`() throws {
        let names = ["A", "BB", "C", "DD"]
        try expect(#Predicate { names.filter { $0.count == 1 }.contains($0.name) }, ["A", "C"])
    }

    // MARK: Order

    @Test func `enumerations are compared by their own order, optional or not`() throws {
        let normal = Post.Urgency.normal
        try expect(#Predicate { ($0.urgency ?? normal) > normal }, ["A"])
        try expect(#Predicate { if let urgency = $0.urgency { urgency < normal } else { false } }, ["B"])
        let medium = Post.Size.medium
        try expect(#Predicate { $0.size < medium }, ["C", "D"])
        let high = Post.Urgency.high
        try expect(#Predicate { ($0.urgency ?? high) < ($0.box?.urgency ?? normal) }, ["B", "C"])
    }

    @Test func `enumerations are sorted by their own order, nil first`() throws {
        try expect(SortDescriptor(\.urgency), ["D", "B", "C", "A"])
        try expect(SortDescriptor(\.urgency, order: .reverse), ["A", "C", "B", "D"])
        try expect(SortDescriptor(\.size), ["C", "D", "B", "A"])
    }

    @Test func `members of structures can be sort keys`() throws {
        try expect(SortDescriptor(\.origin.town), ["D", "B", "A", "C"])
        try expect(SortDescriptor(\.box?.weight), ["D", "C", "A", "B"])
        try expect(SortDescriptor(\.box?.urgency), ["A", "D", "B", "C"])
    }

    @Test func `raw values can be sort keys, in their own order`() throws {
        try expect(SortDescriptor(\.state.rawValue), ["C", "A", "D", "B"])
        try expect(SortDescriptor(\.urgency?.rawValue), ["D", "A", "B", "C"])
        try expect(SortDescriptor(\.urgency?.rawValue, order: .reverse), ["C", "B", "A", "D"])
        try expect(SortDescriptor(\.tag.rawValue), ["D", "A", "C", "B"])
        try expect(SortDescriptor(\.tag.rawValue, comparator: .localizedStandard), ["A", "C", "B", "D"])
        try expect(SortDescriptor(\.urgency?.rawValue, comparator: .localized), ["D", "A", "B", "C"])
    }

    @Test func `raw values of a structure's members can be sort keys`() throws {
        try expect(SortDescriptor(\.box?.state.rawValue), ["D", "A", "C", "B"])
        try expect(SortDescriptor(\.box?.urgency?.rawValue), ["A", "D", "C", "B"])
    }

    @Test func `sorting by a value computed from a raw value is refused`() throws {
        try withParcels { context, _ in
            for sort in [
                SortDescriptor(\Parcel.state.firstLetter), SortDescriptor(\Parcel.state.lostAsPacked),
                SortDescriptor(\Parcel.tag.folded), SortDescriptor(\Parcel.box?.state.lostAsPacked),
            ] {
                #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
                    try context.fetch(FetchDescriptor(sortBy: [sort]))
                }
            }
        }
    }

    @Test func `sorting by a raw value sorts by its column`() throws {
        let entity = DetachedEntities.entity(for: Society.Person.self)
        func outline(_ sort: SortDescriptor<Society.Person>) throws -> String {
            try QuerySort.reading(sort, entity: entity).expression.outline
        }
        #expect(try outline(SortDescriptor(\.rank?.rawValue)) == "$0.rank")
        #expect(try outline(SortDescriptor(\.kind.rawValue)) == "$0.kind")
        #expect(try outline(SortDescriptor(\.employer?.boss?.kind.rawValue)) == "$0.employer.boss.kind")
        #expect(
            try outline(SortDescriptor(\.address?.country.kind.rawValue)) == "$0.address[\"country\"][\"kind\"]"
        )
    }

    @Test func `an enumeration whose order is that of its raw values is sorted by its column`() throws {
        let entity = DetachedEntities.entity(for: Society.Person.self)
        func outline(_ sort: SortDescriptor<Society.Person>) throws -> String {
            try QuerySort.reading(sort, entity: entity).expression.outline
        }
        #expect(try outline(SortDescriptor(\.age)) == "$0.age")
        #expect(
            try outline(SortDescriptor(\.rank)) == """
                ($0.rank in [30, 20, 10] ? ($0.rank in [30] ? 0 : ($0.rank in [20] ? 1 : 2)) : nil)
                """
        )
    }
}
