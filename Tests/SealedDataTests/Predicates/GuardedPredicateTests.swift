import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Captured values that a predicate uses conditionally")
struct GuardedPredicateTests: PredicateChecks {
    private let everyone = ["Ann", "Bob", "eve"]

    @Test func `a captured nil is not unwrapped where a test for nil decides`() throws {
        let (ids, range, first): ([UUID]?, ClosedRange<Int>?, String?) = (nil, nil, nil)
        #expect(try names(#Predicate { ids == nil || ids!.contains($0.code) }) == everyone)
        #expect(try names(#Predicate { ids != nil && ids!.contains($0.code) }) == [])
        #expect(try names(#Predicate { range == nil || range!.contains($0.age) }) == everyone)
        #expect(try names(#Predicate { range == nil ? true : range!.lowerBound <= $0.age }) == everyone)
        #expect(try names(#Predicate { range != nil ? range!.upperBound >= $0.age : false }) == [])
        #expect(try names(#Predicate { first == nil || $0.name.starts(with: first!) }) == everyone)
        #expect(try names(#Predicate { !(first != nil && first!.count > $0.age) }) == everyone)
        #expect(try names(#Predicate { $0.name == (first == nil ? $0.name : first!) }) == everyone)
    }

    @Test func `a captured value that is not nil restricts the result`() throws {
        let society = SampleSociety()
        let (ids, range): ([UUID]?, ClosedRange<Int>?) = ([society.bob.code], 7...30)
        #expect(try names(society, #Predicate { ids == nil || ids!.contains($0.code) }) == ["Bob"])
        #expect(try names(#Predicate { range == nil || range!.contains($0.age) }) == ["Ann", "eve"])
        #expect(try names(#Predicate { range == nil ? true : range!.lowerBound < $0.age }) == ["Ann", "Bob"])
    }

    @Test func `an element of an empty captured array is not read where a test decides`() throws {
        let texts: [String] = []
        #expect(try names(#Predicate { texts.isEmpty || $0.name == texts[0] }) == everyone)
        #expect(try names(#Predicate { !texts.isEmpty && $0.name != texts[0] }) == [])
        let some = ["Bob"]
        #expect(try names(#Predicate { some.isEmpty || $0.name == some[0] }) == ["Bob"])
    }

    @Test func `a predicate that decides a combination hides the following ones`() throws {
        typealias Condition = Predicate<Society.Person>
        let unreadable = #Predicate<Society.Person> { $0.note == "x" }
        #expect(try found(Condition.any([Condition.true, unreadable])) == everyone)
        #expect(try found(Condition.all([.false, unreadable])) == [])
        #expect(try found(!(Condition.true || unreadable)) == [])
        #expect(refusal(of: Condition.all([.true, unreadable])) != nil)
    }

    /// Foundation throws if a predicate unwraps nil; a store returns false.
    @Test func `a comparison that unwraps a captured nil is false`() throws {
        let (ids, range, text): ([UUID]?, ClosedRange<Int>?, String?) = (nil, nil, nil)
        #expect(try read(#Predicate { ids!.contains($0.code) }) == .bool(false))
        #expect(try read(#Predicate { !ids!.contains($0.code) }) == .bool(false))
        #expect(try found(#Predicate { range!.contains($0.age) || $0.age == 7 }) == ["eve"])
        #expect(try found(#Predicate { !(range!.contains($0.age)) || $0.age == 7 }) == ["eve"])
        #expect(try found(#Predicate { range!.lowerBound <= $0.age || $0.age == 7 }) == ["eve"])
        #expect(try found(#Predicate { text!.count == $0.age || $0.age == 7 }) == ["eve"])
        #expect(try found(#Predicate { text!.isEmpty || $0.age == 7 }) == ["eve"])
    }

    @Test func `a comparison with a missing element of a captured array is false`() throws {
        let (texts, index): ([String], Int) = (["Ann"], 1)
        #expect(try found(#Predicate { $0.name == texts[index] || $0.age == 7 }) == ["eve"])
        #expect(try found(#Predicate { $0.name != texts[index] }) == [])
        #expect(try found(#Predicate { !($0.name == texts[index]) }) == [])
    }
}
