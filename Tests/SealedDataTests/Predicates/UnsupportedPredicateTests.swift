import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Errors of unsupported predicates")
struct UnsupportedPredicateTests: PredicateChecks {
    @Test func `a property that is not persisted`() throws {
        let part = try #require(refusal(of: #Predicate { $0.note == "x" }))
        #expect(part.contains("is not a persisted property of 'Person'"))
    }

    @Test func `a value without a canonical form`() {
        let weights: Set = [1.5, 2]
        #expect(refusal(of: #Predicate { $0.weights == weights })?.hasSuffix("which has no one form") == true)
    }

    @Test func `the first of the members`() throws {
        let part = try #require(refusal(of: #Predicate { $0.pets.first == nil }))
        #expect(part.hasSuffix("of a to-many relationship"))
    }

    @Test func `no error contains a value`() throws {
        let part = try #require(refusal(of: #Predicate { $0.name == "secret" && $0.note == "secret" }))
        #expect(!part.contains("secret"))
    }
}
