import Foundation
import SealedData

/// The models of the predicate tests: every type of attribute that a predicate can compare, and every kind of
/// relationship.
enum Society {
    enum Kind: String, Codable, CaseIterable {
        case adult, child, guest
    }

    /// With another order than that of its raw values.
    enum Rank: Int, Codable, CaseIterable, Comparable {
        case low = 30
        case middle = 20
        case high = 10

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue > right.rawValue }
    }

    struct Address: Codable, Equatable {
        var city: String
        var floor: Int = 0
        var isHome = false
        var isWork = false
        var moved: Date?
        var country = Country()

        enum CodingKeys: String, CodingKey {
            case city = "town"
            case floor, isHome, isWork, moved, country
        }

        var line: String { "\(city) \(floor)" }
    }

    struct Country: Codable, Hashable {
        var code = "CH"
        var kind = Kind.adult
        var area = 41_285.5
    }

    /// Without raw values.
    enum Mood: Codable, Equatable {
        case calm, glad
    }

    @Model
    final class Person {
        var name: String
        var nickname: String?
        var age: Int
        var height: Double
        var isActive: Bool
        var isMember: Bool?
        var birthday: Date?
        var code: UUID
        var kind: Kind
        var rank: Rank?
        var balance: Decimal
        var visits: UInt64
        var weight: Float
        var site: URL?
        var photo: Data?
        var address: Address?
        var tags: [String] = []
        var scores: [Int]?
        var weights: Set<Double> = []
        var prices: [Decimal] = []
        var grades: [String: Int] = [:]
        var formerAddresses: [Address] = []
        var mood = Mood.calm
        var level: Int8 = 0
        @Transient var note = ""
        var employer: Company?
        @Relationship(inverse: \Pet.owner) var pets: [Pet]

        init(_ name: String, age: Int = 0) {
            self.name = name
            self.age = age
            height = 1.5
            isActive = false
            code = UUID()
            kind = .adult
            balance = 0
            visits = 0
            weight = 0
            pets = []
        }
    }

    @Model
    final class Company {
        var name: String
        var isPublic: Bool
        var boss: Person?
        @Relationship(inverse: \Person.employer) var staff: [Person]

        init(_ name: String, isPublic: Bool = false) {
            self.name = name
            self.isPublic = isPublic
            staff = []
        }
    }

    @Model
    final class Pet {
        var name: String
        var weight: Int?
        var owner: Person?

        init(_ name: String, weight: Int? = nil) {
            self.name = name
            self.weight = weight
        }
    }
}
