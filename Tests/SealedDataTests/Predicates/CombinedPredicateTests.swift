import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Predicates composed at run time")
struct CombinedPredicateTests: PredicateChecks {
    private let isActive = #Predicate<Society.Person> { $0.isActive }
    private let isOld = #Predicate<Society.Person> { $0.age > 20 }

    @Test func `conjunction, disjunction and negation`() throws {
        #expect(try read(isActive && isOld).outline == "and(($0.isActive == 1), ($0.age > 20))")
        #expect(try names(isActive && isOld) == ["Ann"])
        #expect(try names(isActive || isOld) == ["Ann", "Bob", "eve"])
        #expect(try names(!isActive) == ["Bob"])
        #expect(try names(!(isActive && isOld) || isActive) == ["Ann", "Bob", "eve"])
    }

    @Test func `any number of operands`() throws {
        typealias Condition = Predicate<Society.Person>
        #expect(try names(Condition.all([])) == ["Ann", "Bob", "eve"])
        #expect(try names(Condition.any([])) == [])
        let ages = (0..<1000).map { age in #Predicate<Society.Person> { $0.age == age } }
        #expect(try names(.any(ages)) == ["Ann", "Bob", "eve"])
        #expect(try names(.all([isActive, isOld, #Predicate { $0.name == "Ann" }])) == ["Ann"])
        let texts = (0..<1500).map { number in #Predicate<Society.Person> { $0.name.contains("\(number)") } }
        #expect(try names(.any(texts)) == [])
        #expect(try names(.all(texts.map { !$0 })) == ["Ann", "Bob", "eve"])
        // Operands that may fail keep their order.
        let sums = (0..<60).map { number in #Predicate<Society.Person> { $0.age + number == 90 } }
        #expect(try names(.any(sums)) == ["Bob"])
        #expect(try names(.all(sums.map { !$0 })) == ["Ann", "eve"])
    }
}
