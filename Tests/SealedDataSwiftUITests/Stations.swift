import Foundation
import SealedData
import SwiftUIStandIn

@Model
final class Station {
    var name: String
    var line: String?

    init(_ name: String, line: String? = nil) {
        self.name = name
        self.line = line
    }
}

/// A view that shows the stations whose names begin with a text.
struct StationList: View {
    @Query private var stations: [Station]
    private let show: ([String], ResultsObserver<Station, Never>) -> Void

    init(_ prefix: String = "", show: @escaping ([String], ResultsObserver<Station, Never>) -> Void) {
        _stations = Query(filter: #Predicate { $0.name.starts(with: prefix) }, sort: \.name, animation: .default)
        self.show = show
    }

    var body: some View {
        show(stations.map(\.name), $stations)
        return EmptyView()
    }
}

/// A view that shows the stations of each line, and its model context.
struct LineList: View {
    @Environment(\.modelContext) private var context
    @Query(sort: \Station.name, sectionBy: \Station.line) private var lines: SectionedResults<Station, String?>
    let show: (ModelContext, [String?]) -> Void

    var body: some View {
        show(context, lines.map(\.title))
        return EmptyView()
    }
}

/// A view that shows all stations, with the initializer that Swift makes.
struct AllStations: View {
    @Query private var stations: [Station]
    let show: ([String]) -> Void

    var body: some View {
        show(stations.map(\.name))
        return EmptyView()
    }
}
