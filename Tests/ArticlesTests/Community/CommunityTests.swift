import Foundation
import SealedData
import Testing

@Suite("The article about people, communities and their relationships")
struct CommunityTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ArticlesTests.container(for: Person.self, Community.self, CommunityRelationship.self)
        context = ModelContext(container)
    }

    private func person(_ name: String) -> Person {
        Person(personID: UUID(), name: name, age: 16, gender: .other, community: [], relationships: [])
    }

    @Test func `the schema has the entities and relationships of the article's diagram`() throws {
        let schema = container.schema
        #expect(Set(schema.entities.map(\.name)) == ["Person", "Community", "CommunityRelationship"])
        let person = try #require(schema.entity(for: Person.self))
        #expect(Set(person.attributes.map(\.name)) == ["personID", "name", "age", "gender"])
        let community = try #require(person.relationshipsByName["community"])
        #expect((community.destination, community.inverseName) == ("Community", "member"))
        #expect((community.isToOneRelationship, community.deleteRule) == (false, .noAction))
        let relationships = try #require(person.relationshipsByName["relationships"])
        #expect((relationships.inverseName, relationships.deleteRule) == ("person1", .cascade))
        // It is enough to declare the inverse on one side.
        let member = schema.entity(for: Community.self)?.relationshipsByName["member"]
        #expect(member?.inverseName == "community")
    }

    @Test func `setting one side of a relationship sets the other`() throws {
        let (a, b) = (person("a"), person("b"))
        let club = Community(communityName: "club", member: [a])
        context.insert(club)
        b.community.append(club)
        let friends = CommunityRelationship(relationshipType: .friend)
        friends.person1 = a
        friends.person2 = b
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.all(Community.self).first)
        #expect(Set(read.member.map(\.name)) == ["a", "b"])
        let people = try other.all(Person.self)
        #expect(people.allSatisfy { $0.community.map(\.communityName) == ["club"] })
        let first = try #require(people.first { $0.name == "a" })
        #expect(first.relationships.map(\.relationshipType) == [.friend])
        #expect(first.relationships.first?.person2?.name == "b")
    }

    @Test func `deleting a person deletes the person's relationships, and the community stays`() throws {
        let (a, b) = (person("a"), person("b"))
        let club = Community(communityName: "club", member: [a, b])
        let friends = CommunityRelationship(relationshipType: .lover)
        friends.person1 = a
        friends.person2 = b
        context.insert(club)
        context.insert(friends)
        try context.save()
        context.delete(a)
        try context.save()
        let other = ModelContext(container)
        #expect(try other.all(Person.self).map(\.name) == ["b"])
        #expect(try other.all(CommunityRelationship.self).isEmpty)
        #expect(try other.all(Community.self).map(\.communityName) == ["club"])
        #expect(try other.all(Community.self).first?.member.map(\.name) == ["b"])
    }

    @Test func `a community with an existing identifier updates the existing one`() throws {
        let id = UUID()
        context.insert(Community(communityID: id, communityName: "first", member: []))
        try context.save()
        context.insert(Community(communityID: id, communityName: "second", member: []))
        try context.save()
        #expect(try ModelContext(container).all(Community.self).map(\.communityName) == ["second"])
    }

    @Test func `the sample data is inserted with all related models into a default container`() async {
        await #expect(processExitsWith: .success) {
            try await withDefaultStores {
                let app = CommunityApp()
                let context = ModelContext(app.sharedModelContainer)
                Person.insertSampleData(modelContext: context)
                try context.save()
                let other = ModelContext(CommunityApp().sharedModelContainer)
                let people = try other.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)]))
                #expect(people.map(\.name) == ["たけし", "ひとみ"])
                #expect(people.map(\.gender) == [.male, .female])
                let hitomi = try #require(people.last)
                #expect(hitomi.community.map(\.communityName) == ["放課後クラブ"])
                #expect(hitomi.relationships.map(\.relationshipType) == [.friend])
                #expect(hitomi.relationships.first?.person2 === people.first)
            }
        }
    }

    @Test func `the classes of the first draft work without inverses`() throws {
        let container = try ArticlesTests.container(
            for: FirstDraft.Person.self,
            FirstDraft.Community.self,
            FirstDraft.CommunityRelationship.self
        )
        let context = ModelContext(container)
        let a = FirstDraft.Person(name: "a", age: 1, gender: .male)
        let b = FirstDraft.Person(name: "b", age: 2, gender: .female)
        context.insert(FirstDraft.Community(communityName: "club", member: [a, b]))
        context.insert(FirstDraft.CommunityRelationship(a, b, .spouse))
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.all(FirstDraft.CommunityRelationship.self).first)
        #expect((read.Person1.name, read.Person2.name, read.relationshipType) == ("a", "b", .spouse))
        #expect(try other.all(FirstDraft.Community.self).first?.member.map(\.name) == ["a", "b"])
    }
}
