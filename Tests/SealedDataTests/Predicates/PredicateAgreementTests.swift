import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

/// A condition that is written with `#Predicate` and as text gives equal expressions, and so one statement.
@Suite("Predicates written in both forms")
struct PredicateAgreementTests: PredicateChecks {
    typealias Person = Society.Person

    private func expectAgreement(
        _ predicate: Predicate<Person>,
        _ format: String,
        _ arguments: Any?...,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let expression = try read(predicate)
        let other = try read(Person.predicate(format: format, arguments: arguments))
        #expect(
            expression == other,
            "\(expression.outline) and \(other.outline)",
            sourceLocation: location
        )
        // The printed form is a third way to write it.
        let printed = expression.predicateFormat(showingValuesFor: entity)
        let again = try QueryExpression(format: printed, entity: entity)
        #expect(again == expression, "\(printed) reads as \(again.outline)", sourceLocation: location)
    }

    @Test func `comparisons`() throws {
        try expectAgreement(#Predicate { $0.age > 3 }, "age > 3")
        try expectAgreement(#Predicate { 3 < $0.age }, "3 < age")
        try expectAgreement(#Predicate { $0.name == "Ann" }, "name == 'Ann'")
        try expectAgreement(#Predicate { $0.nickname == nil }, "nickname == NIL")
        try expectAgreement(#Predicate { nil != $0.nickname }, "NIL != nickname")
        try expectAgreement(#Predicate { !($0.age == 3) }, "NOT age == 3")
        try expectAgreement(#Predicate { $0.height < 1.5 }, "height < 1.5")
        try expectAgreement(#Predicate { $0.age + 1 > 10 }, "age + 1 > 10")
        try expectAgreement(#Predicate { $0.name.isEmpty }, "name == ''")
        try expectAgreement(#Predicate { $0.name.count > 2 }, "name.length > 2")
    }

    @Test func `unsigned integers of 64 bits`() throws {
        let large = UInt64.max - 1
        try expectAgreement(#Predicate { $0.visits > 7 }, "visits > 7")
        try expectAgreement(#Predicate { $0.visits <= large && $0.age == 1 }, "visits <= %@ AND age == 1", large)
        try expectAgreement(#Predicate { $0.visits > large || $0.age == 1 }, "visits > %@ OR age == 1", large)
        try expectAgreement(#Predicate { (2...5).contains($0.visits) }, "visits BETWEEN {2, 5}")
    }

    @Test func `Boolean attributes`() throws {
        try expectAgreement(#Predicate { $0.isActive }, "isActive")
        try expectAgreement(#Predicate { !$0.isActive }, "NOT isActive")
        try expectAgreement(#Predicate { $0.isActive == true }, "isActive == YES")
        try expectAgreement(#Predicate { $0.isMember == false }, "isMember == NO")
        try expectAgreement(#Predicate { $0.isMember ?? false }, "coalesce(isMember, NO)")
        try expectAgreement(#Predicate { ($0.age > 3) == true }, "(age > 3) == YES")
        try expectAgreement(#Predicate { ($0.age == 3) == false }, "(age == 3) == NO")
    }

    @Test func `logic`() throws {
        try expectAgreement(
            #Predicate { $0.age == 1 && ($0.name == "x" && $0.isActive) },
            "age == 1 AND (name == 'x' AND isActive)"
        )
        try expectAgreement(
            #Predicate { $0.age == 1 || $0.age == 2 || $0.age == 3 },
            "age == 1 OR age == 2 OR age == 3"
        )
        try expectAgreement(#Predicate { !(!($0.age < 1)) }, "NOT NOT age < 1")
        try expectAgreement(#Predicate { $0.age < 1 || true }, "age < 1 OR TRUEPREDICATE")
        try expectAgreement(
            #Predicate { $0.nickname != nil && $0.nickname == "x" },
            "nickname != NIL AND nickname == 'x'"
        )
        try expectAgreement(#Predicate { $0.isActive ? $0.age > 1 : true }, "TERNARY(isActive, age > 1, YES)")
        try expectAgreement(#Predicate { ($0.isActive ? $0.age : 7) > 5 }, "TERNARY(isActive, age, 7) > 5")
        try expectAgreement(#Predicate { ($0.nickname ?? $0.name) == "x" }, "coalesce(nickname, name) == 'x'")
    }

    @Test func `lists and ranges`() throws {
        let ages = [1, 2, 3]
        let nicknames = ["a", nil]
        try expectAgreement(#Predicate { ages.contains($0.age) }, "age IN %@", ages)
        try expectAgreement(#Predicate { nicknames.contains($0.nickname) }, "nickname IN %@", nicknames)
        try expectAgreement(#Predicate { (1...5).contains($0.age) }, "age BETWEEN {1, 5}")
        try expectAgreement(#Predicate { (1..<5).contains($0.age) }, "age IN %@", 1..<5)
    }

    @Test func `texts`() throws {
        try expectAgreement(#Predicate { $0.name.contains("x") }, "name CONTAINS 'x'")
        try expectAgreement(#Predicate { $0.name.starts(with: "x") }, "name BEGINSWITH 'x'")
        try expectAgreement(#Predicate { $0.name.localizedStandardContains("x") }, "name CONTAINS[l] 'x'")
        try expectAgreement(#Predicate { !$0.name.contains("x") }, "NOT name CONTAINS 'x'")
    }

    @Test func `to-one relationships`() throws {
        try expectAgreement(#Predicate { $0.employer == nil }, "employer == NIL")
        try expectAgreement(#Predicate { $0.employer?.name == "x" }, "employer.name == 'x'")
        try expectAgreement(#Predicate { $0.employer?.isPublic == true }, "employer.isPublic == YES")
        try expectAgreement(#Predicate { $0.employer!.name == "x" }, "employer != NIL AND employer.name == 'x'")
        try expectAgreement(#Predicate { $0.employer?.boss?.name != "x" }, "employer.boss.name != 'x'")
    }

    @Test func `whether members exist`() throws {
        try expectAgreement(#Predicate { $0.pets.isEmpty }, "pets.@count == 0")
        try expectAgreement(#Predicate { !$0.pets.isEmpty }, "pets.@count != 0")
        try expectAgreement(#Predicate { $0.pets.count > 0 }, "pets.@count > 0")
        try expectAgreement(#Predicate { $0.pets.count >= 1 }, "pets.@count >= 1")
        try expectAgreement(#Predicate { $0.pets.count <= 0 }, "pets.@count <= 0")
        try expectAgreement(#Predicate { 0 < $0.pets.count }, "0 < pets.@count")
        try expectAgreement(#Predicate { $0.pets.count > 2 }, "pets.@count > 2")
        try expectAgreement(#Predicate { $0.employer?.staff.count == 0 }, "employer.staff.@count == 0")
        try expectAgreement(
            #Predicate { $0.pets.filter { $0.weight == 3 }.isEmpty },
            "SUBQUERY(pets, $p, $p.weight == 3).@count == 0"
        )
        try expectAgreement(
            #Predicate { $0.pets.filter { $0.weight != 3 }.isEmpty },
            "SUBQUERY(pets, $p, NOT $p.weight == 3).@count == 0"
        )
        try expectAgreement(
            #Predicate { $0.pets.filter { $0.weight == 3 }.count > 2 },
            "SUBQUERY(pets, $p, $p.weight == 3).@count > 2"
        )
    }

    @Test func `conditions on members`() throws {
        try expectAgreement(#Predicate { $0.pets.contains { $0.name == "Cat" } }, "ANY pets.name == 'Cat'")
        try expectAgreement(#Predicate { !$0.pets.contains { $0.name == "Cat" } }, "NONE pets.name == 'Cat'")
        try expectAgreement(#Predicate { !$0.pets.contains { $0.name != "Cat" } }, "ALL pets.name == 'Cat'")
        try expectAgreement(#Predicate { $0.pets.allSatisfy { $0.name == "Cat" } }, "ALL pets.name == 'Cat'")
        try expectAgreement(#Predicate { $0.pets.allSatisfy { $0.name != "Cat" } }, "NONE pets.name == 'Cat'")
        try expectAgreement(
            #Predicate { $0.pets.contains { $0.name == "Cat" && $0.weight == 3 } },
            "SUBQUERY(pets, $p, $p.name == 'Cat' AND $p.weight == 3).@count > 0"
        )
        try expectAgreement(
            #Predicate { person in person.pets.allSatisfy { $0.name == person.name } },
            "ALL pets.name == name"
        )
        try expectAgreement(
            #Predicate { $0.pets.filter { $0.weight == 3 }.allSatisfy { $0.name == "Cat" } },
            "ALL SUBQUERY(pets, $p, $p.weight == 3).name == 'Cat'"
        )
        try expectAgreement(#Predicate { $0.tags.contains("x") }, "ANY tags == 'x'")
    }
}
