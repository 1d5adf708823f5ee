import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Logic, arithmetic and constants in predicates")
struct LogicPredicateTests: PredicateChecks {
    @Test func `conjunctions are flat`() throws {
        let (age, name) = (1, "x")
        let predicate = #Predicate<Society.Person> { $0.age > age && $0.isActive && $0.name != name }
        #expect(try read(predicate).outline == "and(($0.age > 1), ($0.isActive == 1), ($0.name != \"x\"))")
        #expect(try names(predicate) == ["Ann", "eve"])
    }

    @Test func `alternatives for one value become a list`() throws {
        let (ann, bob, age) = ("Ann", "Bob", 7)
        let predicate = #Predicate<Society.Person> { $0.name == ann || $0.name == bob || $0.age == age }
        #expect(try read(predicate).outline == "or($0.name in [\"Ann\", \"Bob\"], ($0.age == 7))")
        #expect(try names(predicate) == ["Ann", "Bob", "eve"])
    }

    @Test func `constant parts are evaluated once`() throws {
        let (base, all) = (10, false)
        let predicate = #Predicate<Society.Person> { all || $0.age > base * 3 - 1 }
        #expect(try read(predicate).outline == "($0.age > 29)")
        #expect(try names(predicate) == ["Ann", "Bob"])
    }

    @Test func `a constant predicate is constant`() throws {
        #expect(try read(Predicate<Society.Person>.true) == .bool(true))
        #expect(try read(Predicate<Society.Person>.false) == .bool(false))
    }

    @Test func `attributes are calculated with`() throws {
        #expect(try names(#Predicate { $0.age * 2 + 1 == 61 }) == ["Ann"])
        #expect(try names(#Predicate { $0.age / 4 == 10 }) == ["Bob"])
        #expect(try names(#Predicate { $0.age % 2 == 1 }) == ["eve"])
        #expect(try names(#Predicate { -$0.age < -30 }) == ["Bob"])
        #expect(try names(#Predicate { $0.height / 2 > 0.9 }) == ["Bob"])
    }

    @Test func `a constant calculation that overflows does not trap`() throws {
        let (largest, zero) = (Int.max, 0)
        let predicate = #Predicate<Society.Person> { $0.age > 0 || largest + 1 > $0.age }
        #expect(try read(predicate).outline == "or(($0.age > 0), (add(\(Int.max), 1) > $0.age))")
        #expect(try names(predicate) == ["Ann", "Bob", "eve"])
        #expect(try read(#Predicate { $0.age == 1 / zero }).outline == "($0.age == divide(1, 0))")
    }

    @Test func `arithmetic with numbers of each type`() throws {
        #expect(try names(#Predicate { $0.weight + 0.1 > 60.15 }) == ["Ann"])
        #expect(try names(#Predicate { $0.balance * 2 == 21 }) == ["Ann"])
        let large: UInt64 = 1 << 63
        #expect(try names(#Predicate { $0.visits / 2 + 1 > large / 2 }) == ["Ann", "eve"])
        #expect(try names(#Predicate { $0.level / 3 == 33 }) == ["Ann"])
    }

    @Test func `a result out of the range of its type is an error`() throws {
        #expect(throws: QueryError.arithmeticOverflow) { try found(#Predicate { $0.level + 100 > 0 }) }
        #expect(throws: QueryError.arithmeticOverflow) { try found(#Predicate { $0.visits * 2 > 0 }) }
        #expect(throws: QueryError.arithmeticOverflow) { try found(#Predicate { 1 / ($0.visits - 7) > 0 }) }
    }

    @Test func `a ternary selects one operand`() throws {
        #expect(try names(#Predicate { ($0.isActive ? $0.age : 0) == 30 }) == ["Ann"])
        let (age, height) = (10, 1.0)
        #expect(try names(#Predicate { $0.isActive ? $0.age > age : $0.height > height }) == ["Ann", "Bob"])
    }

    @Test func `ranges of each kind contain`() throws {
        let (closed, halfOpen, from, through, upTo) = (7...30, 7..<30, 30..., ...30, ..<30)
        #expect(try read(#Predicate { closed.contains($0.age) }).outline == "and(($0.age >= 7), ($0.age <= 30))")
        #expect(try names(#Predicate { closed.contains($0.age) }) == ["Ann", "eve"])
        #expect(try names(#Predicate { halfOpen.contains($0.age) }) == ["eve"])
        #expect(try names(#Predicate { from.contains($0.age) }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { through.contains($0.age) }) == ["Ann", "eve"])
        #expect(try names(#Predicate { upTo.contains($0.age) }) == ["eve"])
    }

    @Test func `ranges are made in the predicate`() throws {
        let low = 6
        #expect(try names(#Predicate { (low...30).contains($0.age) }) == ["Ann", "eve"])
        #expect(try names(#Predicate { (low..<$0.age).contains(30) }) == ["Bob"])
    }

    @Test func `captured collections contain`() throws {
        let (ages, nicknames): (Set<Int>, [String?]) = ([7, 30], ["Annie", nil])
        #expect(try names(#Predicate { ages.contains($0.age) }) == ["Ann", "eve"])
        #expect(try names(#Predicate { nicknames.contains($0.nickname) }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { [7, 40].contains($0.age) }) == ["Bob", "eve"])
        let none: [Int] = []
        #expect(try names(#Predicate { none.contains($0.age) }) == [])
        let kinds: [Society.Kind] = [.child, .guest]
        #expect(try names(#Predicate { kinds.contains($0.kind) }) == ["Bob", "eve"])
        let many = Array(0..<100_000)
        #expect(try names(#Predicate { many.contains($0.age) }) == ["Ann", "Bob", "eve"])
    }

    @Test func `closures over captured collections are unrolled`() throws {
        let starts = ["A", "e"]
        let any = #Predicate<Society.Person> { person in starts.contains { person.name.starts(with: $0) } }
        #expect(try names(any) == ["Ann", "eve"])
        let all = #Predicate<Society.Person> { person in starts.allSatisfy { $0 != person.name } }
        #expect(try names(all) == ["Ann", "Bob", "eve"])
    }
}
