import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("What cannot be read is named")
struct UnsupportedPredicateTests: PredicateChecks {
    @Test func `a property that is not persisted`() throws {
        let part = try #require(refusal(of: #Predicate { $0.note == "x" }))
        #expect(part.contains("is not a persisted property of 'Person'"))
    }

    @Test func `a member of a composite value, and the value itself`() {
        let bern = Society.Address(city: "Bern")
        #expect(
            refusal(of: #Predicate { $0.address == bern }) == "equality with an attribute that is not of a basic type"
        )
        #expect(refusal(of: #Predicate { $0.address?.city == "Bern" }) == "a member of a 'Address'")
    }

    @Test func `a regular expression`() {
        let digits = /[0-9]+/
        #expect(refusal(of: #Predicate { $0.name.contains(digits) }) == "'StringContainsRegex'")
    }

    @Test func `the first of the members`() throws {
        let part = try #require(refusal(of: #Predicate { $0.pets.first == nil }))
        #expect(part.hasSuffix("of a to-many relationship"))
    }

    @Test func `no error tells a value`() throws {
        let secret = Society.Address(city: "secret")
        let part = try #require(refusal(of: #Predicate { $0.name == "secret" && $0.address == secret }))
        #expect(!part.contains("secret"))
    }
}
