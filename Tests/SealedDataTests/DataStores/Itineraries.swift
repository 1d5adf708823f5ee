import Foundation
import SealedData

/// A trip with its stops and tags, for tests of data stores: relationships of every kind, attributes of many types.
enum Itineraries {
    enum Kind: String, Codable { case work, leisure }

    struct Place: Codable, Equatable {
        var name: String
        var latitude: Double
    }

    @Model
    final class Trip {
        var name: String
        var start: Date
        var budget: Decimal = 0
        var days = 1
        var isBooked = false
        var kind = Kind.leisure
        var place: Place?
        var photo: Data?
        var link: URL?
        var code = UUID()
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
        @Relationship(inverse: \Tag.trips) var tags: [Tag] = []

        init(_ name: String, start: Date = Date(timeIntervalSinceReferenceDate: 0)) {
            self.name = name
            self.start = start
        }
    }

    @Model
    final class Stop {
        var title: String
        var trip: Trip?

        init(_ title: String, trip: Trip? = nil) {
            self.title = title
            self.trip = trip
        }
    }

    @Model
    final class Tag {
        var label: String
        var trips: [Trip] = []

        init(_ label: String) { self.label = label }
    }

    static let schema = Schema([Trip.self])
}
