import Foundation
import SealedData

/// Models with types without placeholder values: structures that refuse most values, and enumerations that are not
/// CaseIterable.
enum Post {
    enum State: String, Codable {
        case packed = "p"
        case sent = "s"
        case lost = "l"

        var firstLetter: String { "\(self)" }
        /// The raw value, except for one case.
        var lostAsPacked: String { self == .lost ? "p" : rawValue }
    }

    /// With another order than that of its raw values.
    enum Urgency: String, Codable, Comparable {
        case low, normal, high

        private var place: Int {
            switch self {
            case .low: 0
            case .normal: 1
            case .high: 2
            }
        }

        static func < (left: Urgency, right: Urgency) -> Bool { left.place < right.place }
    }

    /// Without raw values, and with another order than that of the declaration.
    enum Size: Codable, Comparable {
        case small, medium, large
    }

    struct Tag: RawRepresentable, Codable, Hashable {
        var rawValue: String

        var folded: String { rawValue.lowercased() }
    }

    /// Accepts one weight in four, and has members of many types.
    struct Box: Codable, Equatable {
        var label: String
        var weight: Int
        var zone = TimeZone.gmt
        var locale = Locale(identifier: "de_CH")
        var range = 1.0...2.0
        var due = DateComponents(year: 2001, month: 2)
        var states: Set<State> = [.lost]
        var state = State.packed
        var urgency: Urgency?

        struct WrongWeight: Error {}

        enum CodingKeys: String, CodingKey {
            case label = "weight"
            case weight = "label"
            case zone, locale, range, due, states, state, urgency
        }

        init(_ label: String, weight: Int) {
            self.label = label
            self.weight = weight
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            label = try values.decode(String.self, forKey: .label)
            weight = try values.decode(Int.self, forKey: .weight)
            guard (1...9).contains(weight) else { throw WrongWeight() }
            zone = try values.decode(TimeZone.self, forKey: .zone)
            locale = try values.decode(Locale.self, forKey: .locale)
            range = try values.decode(ClosedRange<Double>.self, forKey: .range)
            due = try values.decode(DateComponents.self, forKey: .due)
            states = try values.decode(Set<State>.self, forKey: .states)
            state = try values.decode(State.self, forKey: .state)
            urgency = try values.decodeIfPresent(Urgency.self, forKey: .urgency)
        }
    }

    struct Place: Codable, Hashable {
        var town: String
        var latitude = 0.5
        var visited = Date(timeIntervalSinceReferenceDate: 0.1)
    }

    enum Status: Codable, Equatable {
        case new
        case returned(reason: String, at: Place)
    }

    @Model
    final class Parcel {
        var name: String
        var box: Box?
        var state = State.packed
        var urgency: Urgency?
        var size = Size.small
        var tag: Tag
        var origin: Place
        var stops: [Place] = []
        var prices: [Double] = []
        var names: [String] = []
        var status = Status.new

        init(_ name: String, tag: String, origin: String) {
            self.name = name
            self.tag = Tag(rawValue: tag)
            self.origin = Place(town: origin)
        }
    }

    /// Three parcels that differ in every tested property.
    static func parcels() -> [Parcel] {
        let first = Parcel("A", tag: "x", origin: "Zürich")
        first.box = Box("tea", weight: 3)
        first.urgency = .high
        first.size = .large
        first.stops = [Place(town: "Bern"), Place(town: "Gen\u{e8}ve", latitude: 0.1)]
        first.prices = [0.1, 2]
        first.names = ["e\u{301}", "b"]
        first.status = .returned(reason: "é", at: Place(town: "Chur"))
        let second = Parcel("B", tag: "y", origin: "Bern")
        second.box = Box("salt", weight: 9)
        second.box?.state = .sent
        second.box?.urgency = .normal
        second.state = .sent
        second.urgency = .low
        second.size = .medium
        second.prices = [2, 0.1]
        let third = Parcel("C", tag: "x", origin: "Zu\u{308}rich")
        third.state = .lost
        third.urgency = .normal
        third.box = Box("ink", weight: 1)
        third.box?.urgency = .high
        let fourth = Parcel("D", tag: "Z", origin: "Basel")
        return [first, second, third, fourth]
    }
}
