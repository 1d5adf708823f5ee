import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Predicate formats for models")
struct FormatPredicateTests: PredicateChecks {
    private typealias Person = Society.Person

    private func predicate(_ format: String, _ arguments: Any?...) throws -> Predicate<Person> {
        try Person.predicate(format: format, arguments: arguments)
    }

    @Test func `every kind of property is compared with its values`() throws {
        #expect(try names(predicate("name ==[c] %@ AND age < %d", "ANN", 31)) == ["Ann"])
        #expect(try names(predicate("nickname == NIL")) == ["Bob"])
        #expect(try names(predicate("isActive == YES AND isMember != TRUE")) == ["eve"])
        #expect(try names(predicate("birthday > %@", Date(timeIntervalSinceReferenceDate: 999))) == ["Ann"])
        #expect(
            try names(predicate("kind == %@ OR rank == %@", Society.Kind.child, Society.Rank.low)) == ["Bob", "eve"]
        )
        #expect(try names(predicate("balance == 10.5 OR balance < -2")) == ["Ann", "Bob"])
        #expect(try names(predicate("visits > 9223372036854775807")) == ["Ann", "eve"])
        #expect(try names(predicate("weight == 60.1")) == ["Ann"])
        #expect(try names(predicate("site == %@", URL(string: "https://example.org/ann"))) == ["Ann"])
        #expect(try names(predicate("photo == %@", Data([1, 2, 3]))) == ["Ann"])
    }

    @Test func `relationships, and parts of composite values`() throws {
        #expect(try names(predicate("employer.isPublic == TRUE")) == ["Ann"])
        #expect(try names(predicate("ANY pets.weight > 3")) == ["Ann", "Bob"])
        #expect(try names(predicate("SUBQUERY(pets, $p, $p.weight == NIL).@count > 0")) == ["Ann"])
        #expect(try names(predicate("employer.boss == SELF")) == ["Ann"])
        #expect(try names(predicate("address.town == 'Bern'")) == ["Bob"])
        #expect(try names(predicate("address.floor > 2")) == ["Ann"])
        #expect(try names(predicate("ANY tags == 'b'")) == ["Bob"])
        #expect(try names(predicate("ANY scores > 8.5")) == ["Ann"])
        #expect(try names(predicate("5 IN scores")) == ["Ann"])
        #expect(try names(predicate("tags.@count == 1")) == ["Bob", "eve"])
        #expect(try names(predicate("SUBQUERY(tags, $t, $t BEGINSWITH 'b').@count == 1")) == ["Ann", "Bob"])
    }

    @Test func `calculations with decimals`() throws {
        #expect(try names(predicate("sqrt(balance) > 3")) == ["Ann"])
        #expect(try names(predicate("sqrt(balance) < 3.25")) == ["Ann", "eve"])
        #expect(try names(predicate("average({balance, 10}) > 10")) == ["Ann"])
        #expect(try names(predicate("average({balance, 10}) < 10")) == ["Bob", "eve"])
    }

    @Test func `it is combined with other predicates`() throws {
        let isActive = #Predicate<Person> { $0.isActive }
        let isOld = try predicate("age > %d", 20)
        #expect(try names(isActive && isOld) == ["Ann"])
        #expect(try names(isActive || isOld) == ["Ann", "Bob", "eve"])
        #expect(try names(!isOld) == ["eve"])
        #expect(try names(.any([isOld, isActive])) == ["Ann", "Bob", "eve"])
    }

    @Test func `models and identifiers are arguments`() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: Person.self, configurations: configuration)
        let context = ModelContext(container)
        let society = SampleSociety()
        for person in society.people { context.insert(person) }
        func names(_ format: String, _ arguments: Any?...) throws -> [String] {
            let predicate = try Person.predicate(format: format, arguments: arguments)
            let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
            return try context.fetch(descriptor).map(\.name)
        }
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            #expect(try names("employer == %@", society.bureau) == ["Ann"])
            #expect(try names("employer == %@", society.shop.persistentModelID) == ["Bob"])
            #expect(try names("SELF IN %@", [society.ann, society.eve]) == ["Ann", "eve"])
            #expect(try names("ANY pets == %@", society.cat) == ["Ann"])
        }
        // The identifier of an argument is read when the predicate is used.
        let new = Society.Company("New")
        society.eve.employer = new
        let predicate = try Person.predicate(format: "employer == %@", arguments: [new])
        #expect(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name) == ["eve"])
        try context.save()
        #expect(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name) == ["eve"])
        try context.delete(model: Person.self, where: predicate)
        #expect(try context.fetchCount(FetchDescriptor<Person>()) == 2)
    }

    @Test func `syntax errors are thrown by the initializer, unknown names when it is used`() throws {
        let error = #expect(throws: PredicateFormatError.self) { try predicate("name ==") }
        #expect(error?.kind == .syntax)
        let unknown = try predicate("nmae == 'x'")
        let mistake = #expect(throws: PredicateFormatError.self) { try read(unknown) }
        #expect(mistake?.suggestions == ["name"])
    }

    @Test func `two predicates with the same format and arguments are equal`() throws {
        let first = FetchDescriptor(predicate: try predicate("age > %d", 20))
        #expect(first == FetchDescriptor(predicate: try predicate("age > 20")))
        #expect(first != FetchDescriptor(predicate: try predicate("age > 21")))
    }
}
