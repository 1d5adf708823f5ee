import Foundation
import SealedData

/// The models of the random queries: every type of attribute, optional and not, and every kind of relationship.
enum Stock {
    enum Kind: String, Codable, CaseIterable {
        case raw, made, sold
    }

    enum Rank: Int, Codable, CaseIterable, Comparable {
        case low = 30
        case high = 10

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue > right.rawValue }
    }

    struct Place: Codable, Equatable {
        var name = ""
        var shelf = 0
        var height = 0.0
        var note: String?

        enum CodingKeys: String, CodingKey {
            case name = "title"
            case shelf, height, note
        }
    }

    @Model
    final class Item {
        var flag = false
        var maybe: Bool?
        var int = 0
        var optionalInt: Int?
        var small: Int8 = 0
        var optionalShort: Int16?
        var unsigned: UInt64 = 0
        var optionalUnsigned: UInt64?
        var word: UInt = 0
        var optionalWord: UInt?
        var double = 0.0
        var optionalDouble: Double?
        var float: Float = 0
        var decimal = Decimal()
        var optionalDecimal: Decimal?
        var text = ""
        var optionalText: String?
        var date = Date(timeIntervalSinceReferenceDate: 0)
        var optionalDate: Date?
        var uuid: UUID
        var url: URL?
        var data: Data?
        var kind = Kind.raw
        var rank: Rank?
        var tags: [String] = []
        var numbers: [Int]?
        var reals: [Double] = []
        var amounts: [Decimal] = []
        var codes: [UInt64] = []
        var place = Place()
        var optionalPlace: Place?
        var scores: [String: Int] = [:]
        var shop: Shop?
        @Relationship(deleteRule: .cascade, inverse: \Part.item) var parts: [Part] = []
        @Relationship(inverse: \Item.follows) var leads: [Item] = []
        var follows: [Item] = []

        init(uuid: UUID) {
            self.uuid = uuid
        }
    }

    @Model
    final class Part {
        var weight = 0
        var label: String?
        var item: Item?

        init() {}
    }

    @Model
    final class Shop {
        var name = ""
        var size: Int?
        var parent: Shop?
        @Relationship(inverse: \Item.shop) var items: [Item] = []

        init() {}
    }
}
