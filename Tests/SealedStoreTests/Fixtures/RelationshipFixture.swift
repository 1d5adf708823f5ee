import Foundation
@testable import ObjectGraph
@testable import SealedStore

/// The models and the content of the kept stores with all kinds of relationships. Each was written with the first model
/// and then migrated to the second one.
enum RelationshipFixture {
    static let versions = ["1.0", "2.0"]

    /// A model with every kind of relationship, an abstract entity, indexes of a subentity, and names that SQL reserves.
    static let first: [EntityDescription] = [
        EntityDescription(
            "Person",
            isAbstract: true,
            attributes: [AttributeDescription("name", .string), AttributeDescription("_id", .int64, isOptional: true)],
            relationships: [
                // One to one, symmetric to one and to many, and a tree.
                RelationshipDescription("passport", to: "Passport", .one, inverse: "holder", deleteRule: .cascade),
                RelationshipDescription("spouse", to: "Person", .one, inverse: "spouse"),
                RelationshipDescription("friends", to: "Person", .many, inverse: "friends"),
                RelationshipDescription("parent", to: "Person", .one, inverse: "children"),
                RelationshipDescription("children", to: "Person", .many, inverse: "parent", isOrdered: true),
                RelationshipDescription("heroes", to: "Person", .many, isOrdered: true),
            ],
            indexes: [FetchIndexDescription(["name"])]
        ),
        EntityDescription(
            "Student",
            superentity: "Person",
            attributes: [
                AttributeDescription("x", .double), AttributeDescription("y", .double),
                AttributeDescription("essay", .string), AttributeDescription("number", .int32),
            ],
            relationships: [
                // Many to many, ordered on both sides.
                RelationshipDescription("courses", to: "_Course", .many, inverse: "students", isOrdered: true)
            ],
            indexes: [
                FetchIndexDescription(["number"]), FetchIndexDescription(["x", "y"], kind: .rtree),
                FetchIndexDescription(["essay"], kind: .fullText(FullTextOptions())),
            ],
            uniquenessConstraints: [["number"]]
        ),
        EntityDescription("Teacher", superentity: "Person", attributes: [AttributeDescription("subject", .string)]),
        EntityDescription(
            "Passport",
            attributes: [AttributeDescription("number", .string)],
            relationships: [
                RelationshipDescription("holder", to: "Person", .one, inverse: "passport", isOptional: false)
            ]
        ),
        EntityDescription(
            "_Course",
            attributes: [AttributeDescription("sqlite_title", .string)],
            relationships: [
                RelationshipDescription("students", to: "Student", .many, inverse: "courses", isOrdered: true),
                RelationshipDescription("_teacher", to: "Teacher", .one),
            ]
        ),
    ]

    /// The model after the migration: with columns that have default values, and with renamed ones.
    static let second: [EntityDescription] = {
        var entities = first
        entities[0].attributes.append(AttributeDescription("city", .string, defaultValue: .text("e\u{301}")))
        entities[0].attributes.append(AttributeDescription("height", .double, defaultValue: .real(1.5)))
        entities[2].attributes[0] = AttributeDescription("field", .string, renamingIdentifier: "subject")
        entities[4].attributes.append(AttributeDescription("note", .string, isOptional: true))
        return entities
    }()

    /// The lines of ``MigratingStore/content()``.
    static let content = [
        "Student 1: _id=7, children=[], city='e\u{301}', courses=[\"_Course 2\", \"_Course 1\"], essay='words of 0', "
            + "friends=[\"Student 2\", \"Teacher 3\"], height=1.5, heroes=[\"Teacher 3\", \"Student 2\"], name='Student 0', "
            + "number=0, parent=Teacher 3, passport=Passport 1, spouse=Student 2, x=0.0, y=-0.0",
        "Student 2: _id=null, children=[], city='e\u{301}', courses=[\"_Course 1\"], essay='words of 1', "
            + "friends=[\"Student 1\"], height=1.5, heroes=[], name='Student 1', number=1, parent=Teacher 3, passport=-, "
            + "spouse=Student 1, x=1.0, y=-1.0",
        "Student 65: _id=null, children=[], city='Rome', courses=[\"_Course 1\"], essay='later', friends=[], height=2.0, "
            + "heroes=[], name='new', number=2, parent=-, passport=-, spouse=-, x=3.0, y=-0.0",
        "Teacher 3: _id=null, children=[\"Student 2\", \"Student 1\"], city='e\u{301}', field='history', "
            + "friends=[\"Student 1\"], height=1.5, heroes=[], name='Teacher', parent=-, passport=Passport 2, spouse=-",
        "Passport 1: holder=Student 1, number='P1'",
        "Passport 2: holder=Teacher 3, number='P2'",
        "_Course 1: _teacher=Teacher 3, note=null, sqlite_title='a', "
            + "students=[\"Student 2\", \"Student 1\", \"Student 65\"]",
        "_Course 2: _teacher=-, note='late', sqlite_title='b', students=[\"Student 1\"]",
    ]

    /// Inserts the objects of the first version.
    static func fillFirst(_ store: MigratingStore) throws {
        let students = (0..<2).map { number in
            store.insert(
                "Student",
                [
                    "name": .text("Student \(number)"), "x": .real(Double(number)), "y": .real(-Double(number)),
                    "essay": .text("words of \(number)"), "number": .integer(Int64(number)),
                ]
            )
        }
        students[0]["_id"] = .integer(7)
        // Keys are numbered in the order in which objects are saved.
        try store.context.save()
        let teacher = store.insert("Teacher", ["name": .text("Teacher"), "subject": .text("history")])
        try store.context.save()
        for (number, holder) in [(1, students[0]), (2, teacher)] {
            let passport = store.insert("Passport", ["number": .text("P\(number)")])
            passport.setDestination(holder, forRelationship: "holder")
            try store.context.save()
        }
        let courses = try ["a", "b"].map { title in
            let course = store.insert("_Course", ["sqlite_title": .text(title)])
            try store.context.save()
            return course
        }
        courses[0].setDestination(teacher, forRelationship: "_teacher")
        courses[0].setMembers([students[1], students[0]], forRelationship: "students")
        students[0].setMembers([courses[1], courses[0]], forRelationship: "courses")
        students[0].setDestination(students[1], forRelationship: "spouse")
        students[0].setMembers([students[1], teacher], forRelationship: "friends")
        teacher.setMembers([students[1], students[0]], forRelationship: "children")
        students[0].setMembers([teacher, students[1]], forRelationship: "heroes")
        try store.context.save()
    }

    /// Inserts and changes objects after the migration.
    static func fillSecond(_ store: MigratingStore) throws {
        let student = store.insert(
            "Student",
            [
                "name": .text("new"), "x": .real(3), "y": .real(-0.0), "essay": .text("later"), "number": .integer(2),
                "city": .text("Rome"), "height": .real(2),
            ]
        )
        let courses = try store.objects("_Course")
        courses[0].addMember(student, forRelationship: "students")
        courses[1]["note"] = .text("late")
        try store.context.save()
    }
}
