import Foundation
import SealedData

/// Six attributes of different types.
@Model
final class Item {
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Date
    var isMarked: Bool

    init(number: Int) {
        self.number = number
        weight = Double(number) * 0.5
        name = "Name number \(number)"
        note = "A somewhat longer note for item \(number)"
        date = Date(timeIntervalSinceReferenceDate: Double(number))
        isMarked = number % 2 == 1
    }
}

/// Found by a unique attribute.
@Model
final class Ticket {
    @Attribute(.unique) var number: Int
    var title: String

    init(number: Int) {
        self.number = number
        title = "Ticket \(number)"
    }
}

/// The same as a plain struct, as one would read it by hand.
struct ItemRow {
    var id: Int64
    var number: Int
    var weight: Double
    var name: String
    var note: String
    var date: Date
    var isMarked: Bool
}
