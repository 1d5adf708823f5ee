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
