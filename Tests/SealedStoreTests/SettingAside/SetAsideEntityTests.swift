import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Entities that a program does not have stay in the file, and come back.
@Suite struct SetAsideEntityTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private func using(_ model: [EntityDescription], _ body: (MigratingStore) throws -> Void = { _ in }) throws {
        try MigratingStore.using(url, model, body)
    }

    @Test func `a container with fewer entities keeps the objects of the others`() throws {
        try Trips.write(url)
        let before = try Trips.content(url, Trips.full)
        try using(Trips.withoutNotes) { store throws in
            #expect(try store.setAside() == ["Note"])
            store.insert("Label", ["name": .text("new")])
        }
        #expect(try Trips.content(url, Trips.full).filter { !$0.contains("'new'") } == before)
    }

    @Test func `programs with different entities have one file`() throws {
        let (first, second) = ([Trips.names[0]], [Trips.names[1]])
        try using(Trips.names) { $0.insert("Label", ["name": .text("l")]) }
        for number in 0..<3 {
            try using(first) { $0.insert("Trip", ["name": .text("\(number)")]) }
            try using(second) { $0.insert("Stop", ["name": .text("\(number)")]) }
        }
        try using(Trips.names) { store throws in
            #expect(try store.values("Trip", "name") == [.text("0"), .text("1"), .text("2")])
            #expect(try store.values("Stop", "name").count == 3)
            #expect(try store.values("Label", "name") == [.text("l")])
            #expect(try store.setAside() == [])
        }
    }

    @Test func `a required reference of an object that is set aside denies a deletion`() throws {
        let note = EntityDescription(
            "Note",
            attributes: [Trips.name],
            relationships: [.init("trip", to: "Trip", .one, isOptional: false)]
        )
        try using([Trips.names[0], note]) { store throws in
            let trip = store.insert("Trip", ["name": .text("a")])
            store.insert("Trip", ["name": .text("b")])
            store.insert("Note", ["name": .text("n")]).setDestination(trip, forRelationship: "trip")
        }
        let store = try MigratingStore(url, [Trips.names[0]])
        try store.object("Trip", named: "a").map(store.context.delete)
        #expect(throws: SealedStoreError.requiredBySetAside(entity: "Note", property: "trip")) {
            try store.context.save()
        }
        store.context.rollback()
        #expect(throws: SealedStoreError.requiredBySetAside(entity: "Note", property: "trip")) {
            _ = try store.context.execute(BatchDeleteRequest(store.entity("Trip")))
        }
        try store.object("Trip", named: "b").map(store.context.delete)
        try store.saveAndClose()
        try using([Trips.names[0], note]) { store throws in #expect(try store.content().count == 2) }
    }

    // MARK: Subentities

    private static let people = [
        EntityDescription(
            "Person",
            attributes: [Trips.name],
            relationships: [
                .init("friends", to: "Person", .many, inverse: "friends"), .init("boss", to: "Person", .one),
            ],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription(
            "Student",
            superentity: "Person",
            attributes: [.init("school", .string), .init("mark", .double, isOptional: true)],
            indexes: [.init(["school"], kind: .fullText(FullTextOptions()))]
        ),
        EntityDescription("Fellow", superentity: "Student", attributes: [.init("topic", .string, isOptional: true)]),
        EntityDescription("Teacher", superentity: "Person", attributes: [.init("subject", .string)]),
    ]

    private func writePeople() throws {
        try using(Self.people) { store throws in
            let people = [
                store.insert("Person", ["name": .text("p")]),
                store.insert("Student", ["name": .text("s"), "school": .text("here"), "mark": .real(-0.0)]),
                store.insert("Fellow", ["name": .text("f"), "school": .text("there"), "topic": .text("t")]),
                store.insert("Teacher", ["name": .text("t"), "subject": .text("u")]),
            ]
            for person in people { person.setMembers(people, forRelationship: "friends") }
            people[0].setDestination(people[1], forRelationship: "boss")
        }
    }

    @Test(arguments: [
        Trips.Named("1", [people[0]]), .init("2", [people[0], people[3]]), .init("3", Array(people[...1])),
        .init("4", [people[0], people[1], people[3]]),
    ])
    func `objects of subentities are objects of the superentity until they come back`(_ smaller: Trips.Named) throws {
        let model = smaller.entities
        try writePeople()
        let before = try Trips.content(url, Self.people)
        try using(model) { store throws in
            let person = store.entity("Person")
            let people = try store.context.fetch(FetchRequest(person), as: ManagedObject.self)
            #expect(people.count == 4)
            #expect(people.allSatisfy { $0.members(forRelationship: "friends").count == 4 })
            #expect(people.filter { $0.destination(forRelationship: "boss") != nil }.count == 1)
            var exact = FetchRequest(person)
            exact.includesSubentities = false
            let others = model.contains { $0.name == "Student" } ? model.count : model.count - 1
            #expect(try store.context.count(exact) == 4 - others)
        }
        #expect(try Trips.content(url, Self.people) == before)
    }

    @Test func `a change of an object keeps what its subentity has`() throws {
        try writePeople()
        try using([Self.people[0]]) { store throws in
            for name in ["s", "f"] { try store.object("Person", named: name)?["name"] = .text("\(name)2") }
            try store.object("Person", named: "t").map(store.context.delete)
            store.insert("Person", ["name": .text("new")])
        }
        try using(Self.people) { store throws in
            #expect(try store.object("Student", named: "s2")?["school"] == .text("here"))
            #expect(try store.object("Student", named: "s2")?["mark"] == .real(-0.0))
            #expect(try store.object("Fellow", named: "f2")?["topic"] == .text("t"))
            #expect(try store.objects("Teacher").isEmpty)
            #expect(try store.objects("Person").count == 2)
        }
    }

    @Test func `values are unique over the objects of all subentities`() throws {
        try writePeople()
        let store = try MigratingStore(url, [Self.people[0]])
        store.insert("Person", ["name": .text("s")])
        #expect(throws: ObjectGraphError.self) { try store.context.save() }
        try store.close()
    }

    @Test func `objects of a subentity of an abstract entity cannot be set aside`() throws {
        var abstract = Self.people
        abstract[0].isAbstract = true
        try using(abstract) { store throws in
            store.insert("Student", ["name": .text("s"), "school": .text("here")])
            store.insert("Teacher", ["name": .text("t"), "subject": .text("u")])
        }
        let before = try folder.contents()
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, [abstract[0], abstract[3]]) }
                == [MigrationProblem(entity: "Student", property: nil, kind: .lost, rows: 1)]
        )
        #expect(try folder.contents() == before)
        try using(abstract) { store throws in
            for student in try store.objects("Student") { store.context.delete(student) }
        }
        try using([abstract[0], abstract[3]]) { store throws in #expect(try store.objects("Teacher").count == 1) }
    }

    @Test func `objects of a subentity cannot leave the destination of a relationship`() throws {
        let person = EntityDescription("Person", attributes: [Trips.name])
        let member = EntityDescription("Member", superentity: "Person", isAbstract: true)
        let fellow = EntityDescription("Fellow", superentity: "Member")
        let club = EntityDescription(
            "Club",
            attributes: [Trips.name],
            relationships: [.init("members", to: "Member", .many)]
        )
        try using([person, member, fellow, club]) { store in
            let fellow = store.insert("Fellow", ["name": .text("a")])
            store.insert("Club", ["name": .text("club")]).setMembers([fellow], forRelationship: "members")
        }
        // The program would regard the fellow as a person, which is no member.
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, [person, member, club]) }
                == [MigrationProblem(entity: "Fellow", property: nil, kind: .lost, rows: 1)]
        )
        #expect(try Trips.content(url, [person, member, fellow, club]).count == 2)
    }

    @Test func `a property of a part of the entities that the model keeps is refused if it has values`() throws {
        try writePeople()
        var moved = Self.people
        moved[0].attributes = []
        moved[0].uniquenessConstraints = []
        moved[3].attributes.append(Trips.name)
        #expect(
            Set(try MigratingStore.refusal { _ = try MigratingStore(url, moved) })
                == Set(
                    ["Person", "Student", "Fellow"].map { .init(entity: $0, property: "name", kind: .lost, rows: 1) }
                )
        )
    }
}
