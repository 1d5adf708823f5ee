import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Relationships in predicates")
struct RelationshipPredicateTests: PredicateChecks {
    @Test func `a relationship is tested for nil`() throws {
        #expect(try read(#Predicate { $0.employer == nil }).outline == "($0.employer == nil)")
        #expect(try names(#Predicate { $0.employer == nil }) == ["eve"])
        #expect(try names(#Predicate { $0.employer != nil }) == ["Ann", "Bob"])
    }

    @Test func `a captured model is compared by its identifier`() throws {
        let society = SampleSociety()
        let (shop, boss) = (society.shop, society.ann)
        let nobody: Society.Company? = nil
        #expect(try names(society, #Predicate { $0.employer == shop }) == ["Bob"])
        #expect(try names(society, #Predicate { $0.employer != shop }) == ["Ann", "eve"])
        #expect(try names(society, #Predicate { $0.employer == nobody }) == ["eve"])
        #expect(try names(society, #Predicate { $0.employer?.boss == boss }) == ["Ann"])
        #expect(try names(society, #Predicate { $0 == boss }) == ["Ann"])
    }

    @Test func `captured models contain`() throws {
        let society = SampleSociety()
        let companies = [society.shop, society.bureau]
        let people: Set = [society.eve, society.bob]
        let employed = #Predicate<Society.Person> {
            if let employer = $0.employer { companies.contains(employer) } else { false }
        }
        #expect(try names(society, employed) == ["Ann", "Bob"])
        #expect(try names(society, #Predicate { people.contains($0) }) == ["Bob", "eve"])
    }

    @Test func `identifiers are compared`() throws {
        let society = SampleSociety()
        let (ann, shop) = (society.ann.persistentModelID, society.shop.persistentModelID)
        #expect(try read(#Predicate { $0.persistentModelID == ann }).outline == "($0 == \(society.ann._$state.key))")
        #expect(try names(society, #Predicate { $0.persistentModelID == ann }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.id == ann }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.employer?.persistentModelID == shop }) == ["Bob"])
        let ids = [ann, shop]
        #expect(try names(society, #Predicate { ids.contains($0.persistentModelID) }) == ["Ann"])
        #expect(try names(society, #Predicate { $0.persistentModelID != shop }) == ["Ann", "Bob", "eve"])
    }

    @Test func `members are counted`() throws {
        #expect(try read(#Predicate { $0.pets.count == 2 }).outline == "(count($1 of $0.pets: 1) == 2)")
        #expect(try names(#Predicate { $0.pets.count == 2 }) == ["Ann"])
        #expect(try read(#Predicate { $0.pets.count > 0 }).outline == "any $1 of $0.pets: 1")
        #expect(try names(#Predicate { $0.pets.count > 0 }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.pets.isEmpty }) == ["eve"])
        #expect(try names(#Predicate { !$0.pets.isEmpty }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.employer?.staff.count == 1 }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.employer?.staff.isEmpty == true }) == [])
    }

    @Test func `a member satisfies a condition`() throws {
        let predicate = #Predicate<Society.Person> { $0.pets.contains { $0.weight == nil } }
        #expect(try read(predicate).outline == "any $1 of $0.pets: ($1.weight == nil)")
        #expect(try names(predicate) == ["Ann"])
        #expect(try names(#Predicate { person in person.pets.contains { $0.name == person.name } }) == [])
    }

    @Test func `all members satisfy a condition`() throws {
        #expect(try names(#Predicate { $0.pets.allSatisfy { $0.weight != nil } }) == ["Bob", "eve"])
    }

    @Test func `members are filtered and counted`() throws {
        let predicate = #Predicate<Society.Person> { $0.pets.filter { $0.weight != nil }.count == 1 }
        #expect(try read(predicate).outline == "(count($1 of $0.pets: ($1.weight != nil)) == 1)")
        #expect(try names(predicate) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.pets.filter { $0.weight == 4 }.allSatisfy { $0.name == "Cat" } }).count == 3)
    }

    @Test func `a captured model is a member`() throws {
        let society = SampleSociety()
        let cat = society.cat
        #expect(try names(society, #Predicate { $0.pets.contains(cat) }) == ["Ann"])
    }

    @Test func `closures are nested`() throws {
        let name = "Dog"
        let predicate = #Predicate<Society.Person> { person in
            person.pets.contains { pet in pet.owner!.pets.contains { $0.name == name } }
        }
        #expect(try names(predicate) == ["Ann"])
    }

    /// The macro's output for `if let staff = …` around a closure, which the compiler cannot check in time.
    @Test func `an outer expression in a closure keeps its variables`() throws {
        typealias Parts = PredicateExpressions
        let predicate = Predicate<Society.Person> { person in
            let employer = Parts.build_KeyPath(root: person, keyPath: \.employer)
            let staff = Parts.build_flatMap(employer) { company in
                Parts.build_filter(Parts.build_KeyPath(root: company, keyPath: \.staff)) { member in
                    Parts.build_Equal(
                        lhs: Parts.build_KeyPath(root: member, keyPath: \.age),
                        rhs: Parts.build_Arg(30)
                    )
                }
            }
            let condition = Parts.build_flatMap(staff) { staff in
                Parts.build_contains(Parts.build_KeyPath(root: person, keyPath: \.pets)) { pet in
                    Parts.build_contains(staff) { member in
                        Parts.build_Equal(
                            lhs: Parts.build_KeyPath(root: member, keyPath: \.name),
                            rhs: Parts.build_Arg("Ann")
                        )
                    }
                }
            }
            return Parts.build_NilCoalesce(lhs: condition, rhs: Parts.build_Arg(false))
        }
        #expect(
            try read(predicate).outline
                == "and(($0.employer != nil), any $1 of $0.pets: any $2 of $0.employer.staff: "
                + "and(($2.age == 30), ($2.name == \"Ann\")))"
        )
        #expect(try names(predicate) == ["Ann"])
    }
}
