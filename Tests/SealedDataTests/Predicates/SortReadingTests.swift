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

    /// The names in the order of a translated descriptor, which must be Foundation's.
    private func sorted(_ sort: SortDescriptor<Person>) throws -> [String] {
        let people = SampleSociety().people
        let key = try read(sort)
        let found = try QueryEvaluator().merge([], people, by: [key]).map { ($0 as? Person)?.name ?? "" }
        #expect(found == people.sorted(using: sort).map(\.name))
        return found
    }

    @Test func `an attribute can be a sort key in both orders`() throws {
        #expect(try read(SortDescriptor(\.age)).expression.outline == "$0.age")
        #expect(try sorted(SortDescriptor(\.age)) == ["eve", "Ann", "Bob"])
        #expect(try sorted(SortDescriptor(\.age, order: .reverse)) == ["Bob", "Ann", "eve"])
        #expect(try sorted(SortDescriptor(\.name)) == ["Ann", "Bob", "eve"])
    }

    @Test func `nil sorts first`() throws {
        #expect(try sorted(SortDescriptor(\.nickname)) == ["Bob", "eve", "Ann"])
        #expect(try sorted(SortDescriptor(\.nickname, order: .reverse)) == ["Ann", "eve", "Bob"])
    }

    @Test func `a key path may follow relationships`() throws {
        #expect(try read(SortDescriptor(\.employer?.name)).expression.outline == "$0.employer.name")
        #expect(try sorted(SortDescriptor(\.employer?.name)) == ["eve", "Ann", "Bob"])
        #expect(try read(SortDescriptor(\.employer!.boss!.age)).expression.outline == "$0.employer.boss.age")
        #expect(try read(SortDescriptor(\.employer?.boss?.nickname)).expression.outline == "$0.employer.boss.nickname")
    }

    @Test func `a key path may lead into structures`() throws {
        #expect(try read(SortDescriptor(\.address?.city)).expression.outline == "$0.address[\"town\"]")
        #expect(try sorted(SortDescriptor(\.address?.city)) == ["eve", "Bob", "Ann"])
        #expect(try sorted(SortDescriptor(\.address?.floor, order: .reverse)) == ["Ann", "Bob", "eve"])
        let area = try read(SortDescriptor(\.address?.country.area)).expression
        #expect(area.outline == "$0.address[\"country\"][\"area\"]")
        let boss = try read(SortDescriptor(\.employer?.boss?.address?.floor)).expression
        #expect(boss.outline == "$0.employer.boss.address[\"floor\"]")
        #expect(try read(SortDescriptor(\.address!.isWork)).expression.outline == "$0.address[\"isWork\"]")
        let code = try read(SortDescriptor(\Person.address?.country.code, comparator: .localizedStandard))
        #expect(code.expression.outline == "$0.address[\"country\"][\"code\"]")
        #expect(code.textOrder == .localizedStandard)
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try read(SortDescriptor(\.address?.line)) }
    }

    @Test func `a Boolean can be a sort key`() throws {
        #expect(try read(SortDescriptor(\.isActive)).expression.outline == "$0.isActive")
        let society = SampleSociety()
        #expect(SortDescriptor(\Person.isActive).compare(society.bob, society.ann) == .orderedAscending)
    }

    @Test func `unsigned integers of 64 bits keep their order`() throws {
        #expect(try sorted(SortDescriptor(\.visits)) == ["Bob", "eve", "Ann"])
    }

    @Test func `the identifier can be a sort key`() throws {
        #expect(try read(SortDescriptor(\.persistentModelID)).expression == .variable(0))
    }

    @Test func `a property that is not persisted is refused`() {
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try read(SortDescriptor(\.note)) }
    }

    @Test func `a text is sorted in the localized order`() throws {
        let sort = SortDescriptor(\Person.name, comparator: .localizedStandard)
        #expect(try read(sort).textOrder == .localizedStandard)
        #expect(try sorted(sort) == ["Ann", "Bob", "eve"])
        #expect(try sorted(SortDescriptor(\.nickname, comparator: .localizedStandard)) == ["Bob", "eve", "Ann"])
        #expect(try read(SortDescriptor(\Person.employer?.name, comparator: .localized)).textOrder == .localized)
        let container = try ModelContainer(
            for: Person.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for name in ["a10", "B", "a9", "É", "e", "f", "か", "が"] { context.insert(Person(name)) }
        let expected = ["a9", "a10", "B", "e", "É", "f", "か", "が"]
        let descriptor = FetchDescriptor<Person>(sortBy: [sort])
        #expect(try context.fetch(descriptor).map(\.name) == expected)
        try context.save()
        #expect(try context.fetch(descriptor).map(\.name) == expected)
        #expect(try context.fetch(descriptor).sorted(using: sort).map(\.name) == expected)
    }

    @Test func `computed values can be sort keys, with nil in the requested position`() throws {
        let container = try ModelContainer(
            for: Person.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for (name, nickname) in [("aaa", "x"), ("b", nil), ("cc", "a")] {
            let person = Person(name)
            person.nickname = nickname
            context.insert(person)
        }
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            func names(_ sort: SortExpression<Person>) throws -> [String] {
                var descriptor = FetchDescriptor<Person>()
                descriptor.sortExpressions = [sort]
                return try context.fetch(descriptor).map(\.name)
            }
            #expect(try names(SortExpression(#Expression { $0.name.count })) == ["b", "cc", "aaa"])
            #expect(try names(SortExpression(#Expression { $0.nickname }, nils: .last)) == ["cc", "aaa", "b"])
            let reversed = SortExpression<Person>(#Expression { $0.nickname }, order: .reverse, nils: .first)
            #expect(try names(reversed) == ["b", "aaa", "cc"])
        }
    }
}
