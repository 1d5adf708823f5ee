import Foundation
import SealedData

/// The requirements that generic code uses for the models of these tests.
protocol Catalogued {
    associatedtype Keeper: PersistentModel & Kept
    var number: UUID { get }
    var title: String { get }
    var subtitle: String? { get }
    var weight: Int { get set }
    var isLent: Bool { get }
    var shelf: Floor { get }
    var spot: Spot { get }
    var keeper: Keeper? { get }
    /// Persisted in one class, computed in the other.
    var label: String { get }
}

protocol Kept {
    var name: String { get }
}

/// Requirements without a persisted witness. `keeperName` has the position of `title` in `Catalogued`: Swift considers
/// their key paths equal.
protocol Computing {
    var folded: String { get }
    var titleOrNone: String { get }
    var full: String { get }
    var doubled: Int { get }
    var keeperName: String { get }
    var constant: String { get }
    var remembered: String { get }
}

extension Catalogued {
    /// Not a requirement; always computed.
    var loudTitle: String { title + "!" }
}

enum Floor: String, Codable {
    case low = "c"
    case middle = "a"
    case high = "b"
}

struct Spot: Codable {
    var row: Int
}

@Model final class Librarian: Kept {
    var name: String

    init(_ name: String) {
        self.name = name
    }
}

@Model final class Volume: Catalogued, Computing {
    let number: UUID
    var title: String
    var subtitle: String?
    var weight: Int
    var isLent: Bool
    var shelf: Floor
    var spot: Spot
    var keeper: Librarian?
    var label: String
    @Transient var remembered = "x"

    init(_ title: String, weight: Int, shelf: Floor = .low, keeper: Librarian? = nil) {
        number = UUID()
        self.title = title
        self.weight = weight
        isLent = weight > 1
        self.shelf = shelf
        spot = Spot(row: weight)
        label = "label \(title)"
        self.keeper = keeper
    }

    var folded: String { title.lowercased() }
    var titleOrNone: String { title.isEmpty ? "none" : title }
    var full: String { title + (subtitle ?? "") }
    // These trap for a model without a keeper or with a large weight.
    var doubled: Int { weight * 2 }
    var keeperName: String { keeper!.name }
    var constant: String { "Ab" }
}

/// Satisfies most of the requirements with inherited properties.
@Model class Item {
    var title: String
    var subtitle: String?
    var weight: Int = 1

    init(_ title: String) {
        self.title = title
    }
}

@Model final class Film: Item, Catalogued {
    var number = UUID()
    var isLent = false
    var shelf = Floor.high
    var spot = Spot(row: 0)
    var keeper: Librarian?

    var label: String { "film \(title)" }
}
