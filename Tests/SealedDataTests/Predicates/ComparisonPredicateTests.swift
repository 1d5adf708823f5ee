import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Comparisons in predicates")
struct ComparisonPredicateTests: PredicateChecks {
    @Test func `an attribute is compared with a literal`() throws {
        let predicate = #Predicate<Society.Person> { $0.age >= 30 }
        #expect(try read(predicate).outline == "($0.age >= 30)")
        #expect(try names(predicate) == ["Ann", "Bob"])
    }

    @Test func `a constant on the left goes to the right`() throws {
        let predicate = #Predicate<Society.Person> { 30 > $0.age }
        #expect(try read(predicate).outline == "($0.age < 30)")
        #expect(try names(predicate) == ["eve"])
    }

    @Test func `nil differs from every text`() throws {
        let predicate = #Predicate<Society.Person> { $0.nickname != "Annie" }
        #expect(try read(predicate).outline == "($0.nickname != \"Annie\")")
        #expect(try names(predicate) == ["Bob", "eve"])
    }

    @Test func `an attribute is tested for nil`() throws {
        let predicate = #Predicate<Society.Person> { $0.nickname == nil }
        #expect(try read(predicate).outline == "($0.nickname == nil)")
        #expect(try names(predicate) == ["Bob"])
    }

    @Test func `a captured nil is nil`() throws {
        let nickname: String? = nil
        #expect(try names(#Predicate { $0.nickname == nickname }) == ["Bob"])
    }

    @Test func `a composite attribute is tested for nil`() throws {
        #expect(try found(#Predicate { $0.address == nil }) == ["eve"])
    }

    @Test func `two attributes are compared`() throws {
        #expect(try names(#Predicate { $0.name == $0.nickname ?? $0.name }) == ["Bob"])
    }

    @Test func `dates, identifiers, decimals, addresses and data are captured`() throws {
        let society = SampleSociety()
        let (birthday, code) = (society.ann.birthday, society.bob.code)
        let (site, photo, balance) = (society.ann.site, society.ann.photo, Decimal(string: "10.5")!)
        #expect(try names(society, #Predicate { $0.birthday == birthday }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.code == code }) == ["Bob"])
        #expect(try names(society, #Predicate { $0.site == site }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.photo == photo }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.balance >= balance }) == ["Ann"])
    }

    @Test func `a float has the precision that it is stored with`() throws {
        let weight: Float = 60.1
        #expect(try names(#Predicate { $0.weight == weight }) == ["Ann"])
    }

    @Test func `NaN equals nothing and has no order`() throws {
        let none = Double.nan
        #expect(try names(#Predicate { $0.height == none }) == [])
        #expect(try names(#Predicate { $0.height != none }) == ["Ann", "Bob", "eve"])
        #expect(try names(#Predicate { $0.height < none }) == [])
    }

    @Test(arguments: [0, 7, 8, UInt64(Int64.max), 1 << 63, 1 << 63 + 1, .max])
    func `unsigned integers of 64 bits keep their order`(bound: UInt64) throws {
        try names(#Predicate { $0.visits < bound })
        try names(#Predicate { $0.visits <= bound })
        try names(#Predicate { $0.visits > bound })
        try names(#Predicate { bound <= $0.visits })
        try names(#Predicate { $0.visits == bound })
    }

    @Test func `an enum is compared by its raw value`() throws {
        let kind = Society.Kind.guest
        let predicate = #Predicate<Society.Person> { $0.kind == kind }
        #expect(try read(predicate).outline == "($0.kind == \"guest\")")
        #expect(try names(predicate) == ["Bob"])
        #expect(try names(#Predicate { $0.kind.rawValue == "guest" }) == ["Bob"])
    }

    @Test func `an optional enum is compared and tested for nil`() throws {
        let rank = Society.Rank.high
        #expect(try names(#Predicate { $0.rank == rank }) == ["Ann"])
        #expect(try names(#Predicate { $0.rank != rank }) == ["Bob", "eve"])
        #expect(try names(#Predicate { $0.rank == nil }) == [])
    }

    @Test func `an enum has its own order, not that of its raw values`() throws {
        let rank = Society.Rank.middle
        let predicate = #Predicate<Society.Person> { ($0.rank ?? rank) > rank }
        #expect(try read(predicate).outline == "coalesce($0.rank, 20) in [10]")
        #expect(try names(predicate) == ["Ann"])
    }

    @Test func `a Boolean can be a condition`() throws {
        #expect(try read(#Predicate { $0.isActive }).outline == "($0.isActive == 1)")
        #expect(try names(#Predicate { $0.isActive }) == ["Ann", "eve"])
        #expect(try names(#Predicate { !$0.isActive }) == ["Bob"])
        #expect(try names(#Predicate { $0.isActive == false }) == ["Bob"])
        #expect(try names(#Predicate { $0.isMember == true }) == ["Ann"])
        #expect(try names(#Predicate { $0.isMember != true }) == ["Bob", "eve"])
    }

    @Test func `conditions are compared with each other`() throws {
        #expect(try names(#Predicate { ($0.age > 10) == $0.isActive }) == ["Ann"])
        #expect(try names(#Predicate { ($0.age > 10) == false }) == ["eve"])
    }
}
