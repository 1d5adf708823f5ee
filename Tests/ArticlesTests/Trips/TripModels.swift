// swift-format-ignore-file
import Foundation
import SealedData

// The talk that introduces SwiftData. Its transcript lacks the names of the attributes and uses the spelling of the
// first beta; both are as in the release here. It omits the other classes and the initializers.

@Model class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    var endDate: Date
    var startDate: Date

    @Relationship(deleteRule: .cascade) var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture) {
        self.name = name
        self.destination = destination
        self.startDate = startDate
        self.endDate = endDate
    }
}

@Model class BucketListItem {
    var title: String
    var isDone = false
    var trip: Trip?

    init(title: String) { self.title = title }
}

@Model class LivingAccommodation {
    var address: Address
    var trip: Trip?

    struct Address: Codable, Equatable {
        var street: String
        var rooms: [Int]
    }

    init(street: String, rooms: [Int]) { address = Address(street: street, rooms: rooms) }
}
