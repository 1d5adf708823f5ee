import Foundation
@testable import SealedData
import SealedStore
import TestSupport
import Testing

@Suite("Exchange of the changes of models") struct ModelExchangeTests {
    private let folder = TemporaryFolder()
    private let first: ModelContainer
    private let second: ModelContainer

    init() throws {
        first = try Records.container(folder.file("1"), history: HistoryOptions(identifiesObjects: true))
        second = try Records.container(folder.file("2"), history: HistoryOptions(identifiesObjects: true))
    }

    /// Makes the changes of a container the next ones of the common order.
    @discardableResult
    private func send(from sender: ModelContainer, to receiver: ModelContainer, _ policy: MergePolicy) throws
        -> ChangeSetResult
    {
        let changes = try #require(try sender.changeSet())
        #expect(try sender.apply(changes).outcome == .acknowledged)
        let coded = try PropertyListEncoder().encode(changes)
        return try receiver.apply(try PropertyListDecoder().decode(ChangeSet.self, from: coded), mergePolicy: policy)
    }

    @Test func `models of all kinds of values reach the other container`() throws {
        let context = ModelContext(first)
        let route = Records.NightRoute("Gion", opened: Date(timeIntervalSince1970: 1), fares: ["adult": 3])
        route.isWeekendOnly = true
        route.stops = [Records.Stop("a"), Records.Stop("b")]
        context.insert(route)
        try context.save()
        let result = try send(from: first, to: second, .error)
        #expect(result.outcome == .applied && result.conflicts.isEmpty)
        let other = ModelContext(second)
        let copy = try #require(try other.fetch(FetchDescriptor<Records.NightRoute>()).first)
        #expect(copy.title == "Gion" && copy.code == route.code && copy.opened == route.opened)
        #expect(copy.fares == ["adult": 3] && copy.isWeekendOnly)
        #expect(copy.stops.map(\.name).sorted() == ["a", "b"])
        let identifier = try other.globalIdentifier(for: copy.persistentModelID)
        #expect(try identifier == context.globalIdentifier(for: route.persistentModelID))
        #expect(try second.changeSet() == nil)
        #expect(try second.check().problems == [])
    }

    @Test func `an open context sees what is applied, and the result names conflicts`() throws {
        let context = ModelContext(first)
        let route = Records.Route("Gion")
        context.insert(route)
        try context.save()
        try send(from: first, to: second, .error)
        let other = ModelContext(second)
        let copy = try #require(try other.fetch(FetchDescriptor<Records.Route>()).first)
        copy.length = 3
        copy.title = "Uji"
        try other.save()
        route.title = "Nara"
        try context.save()
        let result = try send(from: first, to: second, .mergeByPropertyObjectTrump)
        #expect(result.conflicts.map(\.property) == ["title"])
        #expect(result.conflicts.map(\.resolution) == [.tookIncoming])
        _ = try other.fetch(FetchDescriptor<Records.Route>())
        #expect(copy.title == "Nara" && copy.length == 3)
        try send(from: second, to: first, .error)
        _ = try context.fetch(FetchDescriptor<Records.Route>())
        #expect(route.length == 3)
        #expect(try first.exchangeState().position == 3)
    }
}
