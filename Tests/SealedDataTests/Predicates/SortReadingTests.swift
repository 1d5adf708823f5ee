import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Sort descriptors")
struct SortReadingTests: PredicateChecks {
    typealias Person = Society.Person

    private func read(_ sort: SortDescriptor<Person>) throws -> QuerySort {
        try reader.read(sort, entity: entity)
    }

    /// The names in the order of a descriptor as read, which has to be Foundation's.
    private func sorted(_ sort: SortDescriptor<Person>) throws -> [String] {
        let people = SampleSociety().people
        let key = try read(sort)
        let found = try QueryEvaluator().merge([], people, by: [key]).map { ($0 as? Person)?.name ?? "" }
        #expect(found == people.sorted(using: sort).map(\.name))
        return found
    }

    @Test func `an attribute is sorted by, in both orders`() throws {
        #expect(try read(SortDescriptor(\.age)).expression.outline == "$0.age")
        #expect(try sorted(SortDescriptor(\.age)) == ["eve", "Ann", "Bob"])
        #expect(try sorted(SortDescriptor(\.age, order: .reverse)) == ["Bob", "Ann", "eve"])
        #expect(try sorted(SortDescriptor(\.name)) == ["Ann", "Bob", "eve"])
    }

    @Test func `nil comes first`() throws {
        #expect(try sorted(SortDescriptor(\.nickname)) == ["Bob", "eve", "Ann"])
        #expect(try sorted(SortDescriptor(\.nickname, order: .reverse)) == ["Ann", "eve", "Bob"])
    }

    @Test func `a path leads through relationships`() throws {
        #expect(try read(SortDescriptor(\.employer?.name)).expression.outline == "$0.employer.name")
        #expect(try sorted(SortDescriptor(\.employer?.name)) == ["eve", "Ann", "Bob"])
        #expect(try read(SortDescriptor(\.employer!.boss!.age)).expression.outline == "$0.employer.boss.age")
        #expect(try read(SortDescriptor(\.employer?.boss?.nickname)).expression.outline == "$0.employer.boss.nickname")
    }

    @Test func `a Boolean is sorted by`() throws {
        #expect(try read(SortDescriptor(\.isActive)).expression.outline == "$0.isActive")
        let society = SampleSociety()
        #expect(SortDescriptor(\Person.isActive).compare(society.bob, society.ann) == .orderedAscending)
    }

    @Test func `unsigned integers of 64 bits keep their order`() throws {
        #expect(try sorted(SortDescriptor(\.visits)) == ["Bob", "eve", "Ann"])
    }

    @Test func `the identifier is sorted by`() throws {
        #expect(try read(SortDescriptor(\.persistentModelID)).expression == .variable(0))
    }

    @Test func `a property that is not persisted is refused`() {
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try read(SortDescriptor(\.note)) }
    }
}
