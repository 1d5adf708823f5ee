import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Optionals in predicates")
struct OptionalPredicateTests: PredicateChecks {
    @Test func `a missing value is replaced`() throws {
        #expect(try read(#Predicate { $0.isMember ?? false }).outline == "($0.isMember == 1)")
        #expect(try names(#Predicate { $0.isMember ?? false }) == ["Ann"])
        #expect(try names(#Predicate { $0.isMember ?? true }) == ["Ann", "eve"])
        #expect(try names(#Predicate { ($0.nickname ?? "none") == "none" }) == ["Bob"])
    }

    @Test func `if let evaluates its branches by the presence of a value`() throws {
        let predicate = #Predicate<Society.Person> {
            if let nickname = $0.nickname { nickname == "Annie" } else { false }
        }
        #expect(try read(predicate).outline == "($0.nickname == \"Annie\")")
        #expect(try names(predicate) == ["Ann"])
        let others = #Predicate<Society.Person> {
            if let nickname = $0.nickname { nickname != "Annie" } else { true }
        }
        #expect(try names(others) == ["Bob", "eve"])
        let missing = #Predicate<Society.Person> {
            if let nickname = $0.nickname { nickname != "Annie" } else { false }
        }
        #expect(try read(missing).outline == "and(($0.nickname != nil), ($0.nickname != \"Annie\"))")
        #expect(try names(missing) == ["eve"])
    }

    @Test func `a chain leads through a relationship`() throws {
        let predicate = #Predicate<Society.Person> { $0.employer?.name == "Bureau" }
        #expect(try read(predicate).outline == "($0.employer.name == \"Bureau\")")
        #expect(try names(predicate) == ["Ann"])
        #expect(try names(#Predicate { $0.employer?.name != "Bureau" }) == ["Bob", "eve"])
        #expect(try names(#Predicate { $0.employer?.boss?.name == nil }) == ["Bob", "eve"])
        let (isPublic, length): (Bool?, Int?) = (false, 5)
        #expect(try names(#Predicate { $0.employer?.isPublic == isPublic }) == ["Bob"])
        #expect(try names(#Predicate { $0.employer?.boss?.nickname?.count == length }) == ["Ann"])
    }

    @Test func `a chain may end in a condition`() throws {
        #expect(try names(#Predicate { $0.nickname?.isEmpty == true }) == ["eve"])
        #expect(try names(#Predicate { $0.nickname?.isEmpty == false }) == ["Ann"])
        #expect(try names(#Predicate { $0.nickname?.isEmpty != true }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.nickname?.isEmpty ?? true }) == ["Bob", "eve"])
        #expect(try names(#Predicate { !($0.nickname?.contains("n") ?? false) }) == ["Bob", "eve"])
        #expect(try names(#Predicate { ($0.nickname?.contains("n") == true) == false }) == ["Bob", "eve"])
    }

    @Test func `flatMap has no value for nil`() throws {
        let predicate = #Predicate<Society.Person> { $0.nickname.flatMap { $0.count } == 5 }
        #expect(try names(predicate) == ["Ann"])
    }

    @Test func `a forced unwrap can be followed by a property`() throws {
        let predicate = #Predicate<Society.Person> { $0.employer != nil && $0.employer!.name == "Shop" }
        #expect(try read(predicate).outline == "($0.employer.name == \"Shop\")")
        #expect(try names(predicate) == ["Bob"])
        #expect(try names(#Predicate { ($0.nickname == nil ? "none" : $0.nickname!) == "none" }) == ["Bob"])
        #expect(try names(#Predicate { $0.nickname == nil || $0.nickname! == "" }) == ["Bob", "eve"])
    }

    /// Foundation throws if a predicate unwraps nil; a store returns false.
    @Test func `a comparison that unwraps nil is false`() throws {
        #expect(try found(#Predicate { $0.nickname! == "Annie" }) == ["Ann"])
        #expect(try found(#Predicate { $0.nickname! != "Annie" }) == ["eve"])
        #expect(try found(#Predicate { !($0.nickname! == "Annie") }) == ["eve"])
        #expect(try found(#Predicate { $0.nickname! != "Annie" || $0.age == 40 }) == ["Bob", "eve"])
    }

    @Test func `captured optionals are unwrapped`() throws {
        let (some, none): (Int?, Int?) = (30, nil)
        #expect(try names(#Predicate { $0.age == some ?? 0 }) == ["Ann"])
        #expect(try names(#Predicate { $0.age == none ?? 7 }) == ["eve"])
        let predicate = #Predicate<Society.Person> { person in
            if let age = some { person.age > age } else { true }
        }
        #expect(try read(predicate).outline == "($0.age > 30)")
        #expect(try names(predicate) == ["Bob"])
        let all = #Predicate<Society.Person> { person in
            if let age = none { person.age > age } else { true }
        }
        #expect(try names(all) == ["Ann", "Bob", "eve"])
    }
}
