import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Optionals in predicates")
struct OptionalPredicateTests: PredicateChecks {
    /// A class with an optional relationship, as CloudKit requires it.
    @Model
    final class Album {
        var name = ""
        @Relationship(inverse: \Photo.album) var photos: [Photo]? = []

        init(name: String) { self.name = name }
    }

    @Model
    final class Photo {
        var number = 0
        var album: Album?

        init(number: Int) { self.number = number }
    }

    @Test func `a missing value is replaced`() throws {
        #expect(try read(#Predicate { $0.isMember ?? false }).outline == "($0.isMember == 1)")
        #expect(try names(#Predicate { $0.isMember ?? false }) == ["Ann"])
        #expect(try names(#Predicate { $0.isMember ?? true }) == ["Ann", "eve"])
        #expect(try names(#Predicate { ($0.nickname ?? "none") == "none" }) == ["Bob"])
    }

    @Test func `an empty array replaces the members of a missing object`() throws {
        typealias People = Predicate<Society.Person>
        let isEmpty: People = #Predicate { ($0.employer.flatMap { $0.staff } ?? []).isEmpty }
        #expect(try names(isEmpty) == ["eve"])
        let isFull: People = #Predicate { !($0.employer.flatMap { $0.staff } ?? []).isEmpty }
        #expect(try names(isFull) == ["Ann", "Bob"])
        let hasNone: People = #Predicate { ($0.employer.flatMap { $0.staff } ?? []).count < 1 }
        #expect(try names(hasNone) == ["eve"])
        let hasOlder: People = #Predicate { ($0.employer.flatMap { $0.staff } ?? []).contains { $0.age > 35 } }
        #expect(try names(hasOlder) == ["Bob"])
        let hasNoOlder: People = #Predicate { !($0.employer.flatMap { $0.staff } ?? []).contains { $0.age > 35 } }
        #expect(try names(hasNoOlder) == ["Ann", "eve"])
        let areOlder: People = #Predicate { ($0.employer.flatMap { $0.staff } ?? []).allSatisfy { $0.age > 35 } }
        #expect(try names(areOlder) == ["Bob", "eve"])
        let lacksOlder: People = #Predicate {
            ($0.employer.flatMap { $0.staff } ?? []).filter { $0.age > 35 }.isEmpty
        }
        #expect(try names(lacksOlder) == ["Ann", "eve"])
        let others = SampleSociety().people
        let replaced: People = #Predicate { ($0.employer.flatMap { $0.staff } ?? others).isEmpty }
        #expect(throws: SwiftDataError.self) { try read(replaced) }
    }

    @Test func `an empty array replaces an optional to-many relationship`() throws {
        let container = try ModelContainer(
            for: Album.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        let full = Album(name: "full")
        context.insert(full)
        full.photos = [Photo(number: 1), Photo(number: 2)]
        context.insert(Album(name: "empty"))
        try context.save()
        func names(_ predicate: Predicate<Album>) throws -> [String] {
            let albums = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
            #expect(try context.fetch(FetchDescriptor<Album>()).filter(predicate.evaluate).count == albums.count)
            return albums.map(\.name)
        }
        #expect(try names(#Predicate { ($0.photos ?? []).isEmpty }) == ["empty"])
        #expect(try names(#Predicate { ($0.photos ?? []).count == 2 }) == ["full"])
        #expect(try names(#Predicate { ($0.photos ?? []).contains { $0.number == 1 } }) == ["full"])
        #expect(try names(#Predicate { ($0.photos ?? []).allSatisfy { $0.number == 1 } }) == ["empty"])
        #expect(try names(#Predicate { ($0.photos ?? []).filter { $0.number == 1 }.count == 1 }) == ["full"])
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
