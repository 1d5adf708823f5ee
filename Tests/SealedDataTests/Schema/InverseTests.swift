import Foundation
import ObjectGraph
import Testing

@testable import SealedData

@Suite("The inverse of a relationship")
struct InverseTests {
    @Test func `one side names it for both`() throws {
        #expect(try inverses(of: Named.Owner.self) == ["Owner.pets": "owner", "Pet.owner": "pets"])
    }

    @Test func `it is inferred if each side has one relationship to the other`() throws {
        #expect(try inverses(of: Inferred.Category.self) == ["Category.tasks": "category", "Task.category": "tasks"])
        #expect(
            try inverses(of: Inferred.Student.self) == ["Student.courses": "students", "Course.students": "courses"]
        )
        #expect(try inverses(of: Inferred.User.self) == ["User.profile": "user", "Profile.user": "profile"])
    }

    @Test func `it is not inferred for a required relationship`() throws {
        #expect(try inverses(of: Required.School.self) == [:])
    }

    @Test func `it can be named for a required relationship`() throws {
        #expect(try inverses(of: Required.Album.self) == ["Album.tracks": "album", "Track.album": "tracks"])
    }

    @Test func `it is not inferred if there are several candidates`() throws {
        #expect(try inverses(of: Ambiguous.Team.self) == [:])
    }

    @Test func `a named inverse is no candidate for other relationships`() throws {
        #expect(
            try inverses(of: People.Person.self) == [
                "Person.community": "member", "Community.member": "community", "Person.relationships": "Person1",
                "CommunityRelationship.Person1": "relationships",
            ]
        )
    }

    @Test func `an explicit nil makes a relationship one-way`() throws {
        #expect(try inverses(of: OneWay.Author.self) == [:])
    }

    @Test func `a relationship of a class to itself is one-way, unless it is its own inverse`() throws {
        #expect(try inverses(of: Selves.Follower.self) == [:])
        #expect(try inverses(of: Selves.Friend.self) == ["Friend.friends": "friends"])
    }

    @Test func `parent and children of one class are inferred`() throws {
        #expect(try inverses(of: Selves.Folder.self) == ["Folder.parent": "children", "Folder.children": "parent"])
    }

    @Test func `two to-one relationships of a class to itself are one-way`() throws {
        #expect(try inverses(of: Selves.Node.self) == [:])
    }

    @Test func `several named pairs can coexist`() throws {
        #expect(
            try inverses(of: Pairs.Club.self) == [
                "Club.members": "club", "Member.club": "members", "Club.president": "presides",
                "Member.presides": "president",
            ]
        )
    }

    @Test func `both sides may name it if they agree`() throws {
        #expect(try inverses(of: Agreeing.Left.self) == ["Left.right": "left", "Right.left": "right"])
    }

    @Test func `several relationships can share a named inverse`() throws {
        let model = try Schema([Shared.Yard.self]).makeModel().model
        let yard = try #require(model.entitiesByName["Yard"])
        let plant = try #require(model.entitiesByName["Plant"]?.relationship(named: "yard"))
        for name in ["leading", "trailing"] {
            let relationship = try #require(yard.relationship(named: name))
            #expect(relationship.inverse == nil)
            #expect(relationship.sharedInverse === plant)
        }
        #expect(plant.sharers.map(\.name) == ["leading", "trailing"])
        #expect(plant.inverse == nil)
        let schema = Schema([Shared.Yard.self])
        #expect(schema.entity(for: Shared.Yard.self)?.relationshipsByName["trailing"]?.inverseName == "yard")
        let decoded = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        #expect(decoded == schema)
        let names = decoded.entities.flatMap(\.relationships).filter(\.state.sharesInverse).map(\.name)
        #expect(names.sorted() == ["leading", "trailing"])
    }

    @Test func `every invalid inverse is reported with its reason`() {
        let error = failure(of: Schema([Wrong.Source.self])) ?? ""
        #expect(error.contains("Source.toElsewhere: its inverse is a property of Elsewhere"), "\(error)")
        #expect(error.contains("Source.toAttribute: its inverse Target.text does not lead to a model"), "\(error)")
        #expect(error.contains("Source.toOther: its inverse Target.elsewhere leads to Elsewhere"), "\(error)")
        #expect(error.contains("Source.toTransient: its inverse") && error.contains("not a persisted"), "\(error)")
    }

    @Test func `contradictory sides are reported`() {
        let error = failure(of: Schema([Disagreeing.Left.self])) ?? ""
        #expect(error.contains("Left.right: its inverse Right.left names Left.other as its inverse"), "\(error)")
    }

    @Test func `a schema with invalid inverses does not trap outside a container`() {
        let entity = DetachedEntities.entity(for: Wrong.Source.self)
        #expect(entity.relationship(named: "toAttribute")?.inverse == nil)
        #expect(entity.relationship(named: "first")?.inverse?.name == "source")
    }

    /// The inverses in the schema of a class, by entity and relationship.
    private func inverses(of type: any PersistentModel.Type) throws -> [String: String] {
        let model = try Schema([type]).makeModel().model
        var inverses: [String: String] = [:]
        for relationship in model.relationships {
            guard let inverse = relationship.inverse else { continue }
            #expect(inverse.inverse === relationship)
            inverses["\(relationship.source.name).\(relationship.name)"] = inverse.name
        }
        return inverses
    }
}

private enum Named {
    @Model final class Owner {
        @Relationship(inverse: \Pet.owner) var pets: [Pet] = []
        init() {}
    }

    @Model final class Pet {
        var owner: Owner?
        init() {}
    }
}

private enum Inferred {
    @Model class Category {
        @Relationship(deleteRule: .cascade) var tasks: [Task] = []
        init() {}
    }

    @Model class Task {
        var category: Category?
        init() {}
    }

    @Model class Student {
        @Relationship(deleteRule: .nullify) var courses: [Course] = []
        init() {}
    }

    @Model class Course {
        @Relationship(deleteRule: .nullify) var students: [Student] = []
        init() {}
    }

    @Model class User {
        @Relationship(deleteRule: .cascade) var profile: Profile?
        init() {}
    }

    @Model class Profile {
        var user: User?
        init() {}
    }
}

private enum Required {
    @Model final class School {
        var students: [Student] = []
        init() {}
    }

    @Model final class Student {
        var school: School
        init(school: School) { self.school = school }
    }

    @Model final class Album {
        @Relationship(deleteRule: .cascade, inverse: \Track.album) var tracks: [Track] = []
        init() {}
    }

    @Model final class Track {
        var album: Album
        init(album: Album) { self.album = album }
    }
}

private enum Ambiguous {
    @Model final class Team {
        var players: [Player] = []
        var captain: Player?
        init() {}
    }

    @Model final class Player {
        var team: Team?
        init() {}
    }
}

private enum People {
    @Model final class Person {
        @Relationship(deleteRule: .noAction, inverse: \Community.member)
        var community: [Community]
        @Relationship(deleteRule: .cascade, inverse: \CommunityRelationship.Person1)
        var relationships: [CommunityRelationship]

        init() {
            community = []
            relationships = []
        }
    }

    @Model final class Community {
        var member: [Person]
        init() { member = [] }
    }

    @Model final class CommunityRelationship {
        var Person1: Person
        var Person2: Person

        init(_ person1: Person, _ person2: Person) {
            Person1 = person1
            Person2 = person2
        }
    }
}

private enum OneWay {
    @Model final class Author {
        @Relationship(inverse: nil) var books: [Book] = []
        init() {}
    }

    @Model final class Book {
        var author: Author?
        init() {}
    }
}

private enum Selves {
    @Model final class Follower {
        var followed: [Follower] = []
        init() {}
    }

    @Model final class Friend {
        @Relationship(inverse: friendsFriends) var friends: [Friend] = []
        init() {}
    }

    @Model final class Folder {
        var parent: Folder?
        var children: [Folder] = []
        init() {}
    }

    @Model final class Node {
        var mother: Node?
        var father: Node?
        init() {}
    }
}

// An attribute that names its own property is a circular reference for the compiler; a key path in a variable is not.
private var friendsFriends: AnyKeyPath { \Selves.Friend.friends }

private enum Pairs {
    @Model final class Club {
        @Relationship(inverse: \Member.club) var members: [Member] = []
        @Relationship(inverse: \Member.presides) var president: Member?
        init() {}
    }

    @Model final class Member {
        var club: Club?
        var presides: Club?
        init() {}
    }
}

private enum Agreeing {
    // The same goes for two properties whose attributes name each other.
    @Model final class Left {
        @Relationship(inverse: rightsLeft) var right: Right?
        init() {}
    }

    @Model final class Right {
        @Relationship(inverse: leftsRight) var left: Left?
        init() {}
    }
}

private var rightsLeft: AnyKeyPath { \Agreeing.Right.left }
private var leftsRight: AnyKeyPath { \Agreeing.Left.right }

private enum Disagreeing {
    @Model final class Left {
        @Relationship(inverse: disagreeingLeft) var right: Right?
        var other: Right?
        init() {}
    }

    @Model final class Right {
        @Relationship(inverse: disagreeingOther) var left: Left?
        init() {}
    }
}

private var disagreeingLeft: AnyKeyPath { \Disagreeing.Right.left }
private var disagreeingOther: AnyKeyPath { \Disagreeing.Left.other }

private enum Shared {
    @Model final class Yard {
        @Relationship(inverse: \Plant.yard) var leading: [Plant] = []
        @Relationship(inverse: \Plant.yard) var trailing: [Plant] = []
        init() {}
    }

    @Model final class Plant {
        var yard: Yard?
        init() {}
    }
}

private enum Wrong {
    @Model final class Source {
        @Relationship(inverse: \Elsewhere.name) var toElsewhere: Target?
        @Relationship(inverse: \Target.text) var toAttribute: Target?
        @Relationship(inverse: \Target.elsewhere) var toOther: Target?
        @Relationship(inverse: \Target.cache) var toTransient: Target?
        @Relationship(inverse: \Target.source) var first: Target?
        init() {}
    }

    @Model final class Target {
        var text = ""
        var elsewhere: Elsewhere?
        var source: Source?
        @Transient var cache = 0
        init() {}
    }

    @Model final class Elsewhere {
        var name = ""
        init() {}
    }
}
