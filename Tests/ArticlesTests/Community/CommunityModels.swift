// swift-format-ignore-file
import Foundation
import SealedData

// The article about relationships between people. It omits the initializers, which are added here.

@Model
final class Person {
    @Attribute let personID: UUID
    let name: String
    var age: Int
    let gender: Gender
    @Relationship(deleteRule: .noAction, inverse: \Community.member)
    var community: [Community]
    // The article has `\CommunityRelationship.Person1ID` here and `person1` below.
    @Relationship(deleteRule: .cascade, inverse: \CommunityRelationship.person1)
    var relationships: [CommunityRelationship]

    enum Gender: String, Codable {
        case male = "男"
        case female = "女"
        case other = "その他"
    }

    init(
        personID: UUID,
        name: String,
        age: Int,
        gender: Gender,
        community: [Community],
        relationships: [CommunityRelationship]
    ) {
        self.personID = personID
        self.name = name
        self.age = age
        self.gender = gender
        self.community = community
        self.relationships = relationships
    }
}

@Model
final class Community {
    // According to the text the property is unique; the code has `@Attribute` without the option.
    @Attribute(.unique) let communityID: UUID
    let communityName: String
    var member: [Person]

    init(communityID: UUID = UUID(), communityName: String, member: [Person]) {
        self.communityID = communityID
        self.communityName = communityName
        self.member = member
    }
}

@Model
final class CommunityRelationship {
    @Attribute let RelationshipID: UUID
    // `let Person1: Person` in the first version; the sample data assigns it later.
    var person1: Person?
    var person2: Person?
    var relationshipType: RelationshipType

    enum RelationshipType: String, Codable {
        case friend = "友人"
        case lover = "恋人"
        case spouse = "配偶者"
    }

    init(relationshipType: RelationshipType) {
        self.RelationshipID = UUID()
        self.relationshipType = relationshipType
    }
}

extension Community {
    static let houkagoClub = Community(communityName: "放課後クラブ", member: [])
}

extension CommunityRelationship {
    static let hitomiAndTakeshi = CommunityRelationship(relationshipType: .friend)
}

extension Person {
    static var hitomi = Person(
        personID: UUID(),
        name: "ひとみ",
        age: 16,
        gender: .female,
        community: [],
        relationships: []
    )

    static var takeshi = Person(personID: UUID(), name: "たけし", age: 16, gender: .male, community: [], relationships: [])

    static func insertSampleData(modelContext: ModelContext) {
        modelContext.insert(hitomi)
        modelContext.insert(takeshi)
        Community.houkagoClub.member.append(hitomi)
        CommunityRelationship.hitomiAndTakeshi.person1 = hitomi
        CommunityRelationship.hitomiAndTakeshi.person2 = takeshi
    }
}

/// The app, without its views.
struct CommunityApp {
    var sharedModelContainer: ModelContainer = {
        let schema =
            Schema([
                Person.self,
                Community.self,
                CommunityRelationship.self,
            ])
        let modelConfiguration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: false)
        do {
            return try ModelContainer(
                for: schema,
                configurations: [modelConfiguration]
            )
        } catch {
            fatalError("Could not create ModelContainer: \(error)")
        }
    }()
}

/// The first version of the classes in the article, without inverses.
enum FirstDraft {
    @Model
    final class Person {
        @Attribute let personID: UUID
        let name: String
        var age: Int
        let gender: Gender
        var community: [Community]
        var relationships: [CommunityRelationship]

        enum Gender: String, Codable {
            case male = "男"
            case female = "女"
            case other = "その他"
        }

        init(name: String, age: Int, gender: Gender) {
            personID = UUID()
            self.name = name
            self.age = age
            self.gender = gender
            community = []
            relationships = []
        }
    }

    @Model
    final class Community {
        @Attribute let communityID: UUID
        let communityName: String
        var member: [Person]

        init(communityName: String, member: [Person]) {
            communityID = UUID()
            self.communityName = communityName
            self.member = member
        }
    }

    @Model
    final class CommunityRelationship {
        @Attribute let RelationshipID: UUID
        let Person1: Person
        let Person2: Person
        var relationshipType: RelationshipType

        enum RelationshipType: String, Codable {
            case friend = "友人"
            case lover = "恋人"
            case spouse = "配偶者"
        }

        init(_ person1: Person, _ person2: Person, _ relationshipType: RelationshipType) {
            RelationshipID = UUID()
            Person1 = person1
            Person2 = person2
            self.relationshipType = relationshipType
        }
    }
}
