import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Composite values in predicates")
struct CompositePredicateTests: PredicateChecks {
    @Test func `a stored property of a struct, whatever its coding key`() throws {
        #expect(try read(#Predicate { $0.address?.city == "Bern" }).outline == "($0.address[\"town\"] == \"Bern\")")
        #expect(try names(#Predicate { $0.address?.city == "Bern" }) == ["Bob"])
        #expect(try names(#Predicate { $0.address?.floor ?? 0 > 2 }) == ["Ann"])
        #expect(try names(#Predicate { $0.address?.city != "Bern" }) == ["Ann", "eve"])
    }

    @Test func `stored properties of the same type`() throws {
        #expect(try names(#Predicate { $0.address?.isWork == true }) == ["Ann"])
        #expect(try names(#Predicate { $0.address?.isHome == true }) == [])
    }

    @Test func `a date and a number that has no short binary form`() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.1)
        #expect(try names(#Predicate { $0.address?.moved == date }) == ["Ann"])
        #expect(try names(#Predicate { $0.weights.contains(0.1) }) == ["Ann"])
    }

    @Test func `a property of a struct in a struct`() throws {
        let kind = Society.Kind.adult
        #expect(try names(#Predicate { $0.address?.country.code == "CH" }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.address?.country.kind == kind }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { ($0.address?.country.area ?? 0) > 41_285.25 }) == ["Ann", "Bob"])
        let country = Society.Country()
        #expect(try names(#Predicate { $0.address?.country == country }) == ["Ann", "Bob"])
    }

    @Test func `a computed property is refused by name`() throws {
        let part = try #require(refusal(of: #Predicate { $0.address?.line == "" }))
        #expect(part.contains("is not one of the values that a 'Address' is made of"))
    }

    @Test func `an enum without raw values, and an array, as a whole`() throws {
        let mood = Society.Mood.glad
        #expect(try names(#Predicate { $0.mood == mood }) == ["Ann"])
        #expect(try names(#Predicate { $0.mood != mood }) == ["Bob", "eve"])
        let tags = ["b"]
        #expect(try names(#Predicate { $0.tags == tags }) == ["Bob"])
    }

    @Test func `an array contains a value`() throws {
        #expect(try names(#Predicate { $0.tags.contains("b") }) == ["Bob"])
        #expect(try names(#Predicate { $0.tags.contains("b\u{0}c") }) == ["Ann"])
        #expect(try names(#Predicate { $0.tags.contains("zoë") }) == ["eve"])
        let price = Decimal(string: "123456789.123456789")!
        #expect(try names(#Predicate { $0.prices.contains(price) }) == ["Ann"])
    }

    @Test func `closures over the elements of an array`() throws {
        #expect(try names(#Predicate { $0.tags.contains { $0.starts(with: "Z") } }) == ["Ann"])
        #expect(try names(#Predicate { $0.tags.allSatisfy { $0.count == 1 } }) == ["Bob"])
        #expect(try names(#Predicate { $0.tags.filter { $0.count > 1 }.count == 2 }) == ["Ann"])
        #expect(try names(#Predicate { $0.formerAddresses.contains { $0.city == "Basel" && $0.floor > 8 } }) == ["Ann"])
        #expect(try names(#Predicate { ($0.scores ?? []).contains { $0 > 8 } }) == ["Ann"])
    }

    @Test func `the count of an array, and whether it is empty`() throws {
        #expect(try names(#Predicate { $0.tags.count == 3 }) == ["Ann"])
        #expect(try names(#Predicate { $0.prices.isEmpty }) == ["Bob", "eve"])
        #expect(try names(#Predicate { $0.scores?.isEmpty == true }) == ["Bob"])
        #expect(try names(#Predicate { $0.scores?.count == 0 }) == ["Bob"])
        #expect(try names(#Predicate { $0.scores == nil }) == ["eve"])
        #expect(try names(#Predicate { $0.grades.count == 2 }) == ["Ann"])
    }

    @Test func `the first, the last and any element by its index`() throws {
        #expect(try names(#Predicate { $0.tags.first == "a" }) == ["Ann"])
        #expect(try names(#Predicate { $0.tags.last == "b" }) == ["Bob"])
        #expect(try found(#Predicate { $0.tags[0] == "b" }) == ["Bob"])
        #expect(try found(#Predicate { $0.tags[1] != "x" }) == ["Ann"])
        #expect(try found(#Predicate { $0.formerAddresses[1].city == "Basel" }) == ["Ann"])
    }

    @Test func `a slice of an array`() throws {
        let society = SampleSociety()
        society.bob.tags = ["x", "b", "y"]
        society.eve.tags = ["a", "b"]
        let range = 0..<2
        #expect(try names(society, #Predicate { $0.tags.count < 2 || $0.tags[range].contains("a") }) == ["Ann", "eve"])
        #expect(try found(#Predicate { $0.tags[1..<3].count == 2 }) == ["Ann"])
        #expect(try found(#Predicate { $0.tags[0..<1].allSatisfy { $0 == "b" } }) == ["Bob"])
        #expect(try found(society, #Predicate { $0.tags[1..<2].contains("b") }) == ["Bob", "eve"])
    }

    @Test func `the values of a dictionary`() throws {
        #expect(try names(#Predicate { $0.grades["math"] == 6 }) == ["Ann"])
        #expect(try names(#Predicate { $0.grades["art \"x\""] == 4 }) == ["Ann"])
        #expect(try names(#Predicate { $0.grades["math"] == nil }) == ["Bob"])
        #expect(try names(#Predicate { $0.grades["math", default: 1] < 4 }) == ["Bob", "eve"])
    }

    @Test func `the largest and the smallest element`() throws {
        #expect(try names(#Predicate { ($0.scores ?? []).max() == 9 }) == ["Ann"])
        #expect(try names(#Predicate { $0.weights.min() == 0.1 }) == ["Ann"])
        #expect(try names(#Predicate { $0.tags.max() == nil }) == [])
        #expect(try names(#Predicate { $0.prices.max() == nil }) == ["Bob", "eve"])
    }
}
