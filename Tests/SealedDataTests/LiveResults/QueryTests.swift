import Foundation
@testable import SealedData
import Testing
import TestSupport

@Suite("Queries as properties") @MainActor struct QueryTests {
    typealias Station = Live.Station

    @MainActor
    final class Board {
        @Query var all: [Station]
        @Query(filter: #Predicate<Station> { $0.platforms > 1 }, sort: \Station.name) var large: [Station]
        @Query(sort: [SortDescriptor(\Station.name)], sectionBy: \Station.line)
        var byLine: SectionedResults<Station, String?>

        init(_ container: ModelContainer) {
            _all = Query(modelContainer: container)
            _large = Query(filter: #Predicate { $0.platforms > 1 }, sort: \.name, modelContainer: container)
            _byLine = Query(sort: [SortDescriptor(\.name)], sectionBy: \.line, modelContainer: container)
        }
    }

    @Test func `properties follow the main context`() throws {
        let container = try Live.container()
        let board = Board(container)
        #expect(board.all.isEmpty)
        container.mainContext.insert(Station("Uji", platforms: 2))
        container.mainContext.insert(Station("Gion", line: "A"))
        container.mainContext.processPendingChanges()
        #expect(board.all.count == 2)
        #expect(board.large.map(\.name) == ["Uji"])
        #expect(board.byLine.sectionTitles == [nil, "A"])
        board.$large.filterBy = nil
        #expect(board.large.map(\.name) == ["Gion", "Uji"])
        #expect(board.$byLine.sections?.count == 2)
    }

    @Test func `the current container is used by queries that name none`() throws {
        @MainActor struct List {
            @Query(sort: \Station.name, order: .reverse) var stations: [Station]

            var context: ModelContext { _stations.modelContext }
            var error: (any Error)? { _stations.fetchError }
        }
        let container = try Live.container()
        ModelContainer.current = container
        defer { ModelContainer.current = nil }
        container.mainContext.insert(Station("A"))
        container.mainContext.insert(Station("B"))
        let list = List()
        #expect(list.stations.map(\.name) == ["B", "A"])
        #expect(list.context === container.mainContext)
        #expect(list.error == nil)
    }

    @Test func `a query is declared without parentheses`() throws {
        @MainActor struct List {
            @Query private var stations: [Station]
            @Query private var byLine: SectionedResults<Station, String?>

            var names: [String] { stations.map(\.name) }
            var lines: [String?] { byLine.sectionTitles }
            func setSections() { $byLine.sectionBy = \.line }
        }
        @MainActor final class Board {
            @Query var stations: [Station]
        }
        let container = try Live.container()
        ModelContainer.current = container
        defer { ModelContainer.current = nil }
        container.mainContext.insert(Station("A", line: "1"))
        try container.mainContext.save()
        let list = List()
        #expect(list.names == ["A"])
        #expect(Board().stations.map(\.name) == ["A"])
        #expect(list.lines == [])
        list.setSections()
        #expect(list.lines == ["1"])
    }
}
