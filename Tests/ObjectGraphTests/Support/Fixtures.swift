import ObjectGraph

/// The models that several suites share.
enum Fixtures {
    /// Every kind of relationship, in a library.
    static let library = model(
        EntityDescription(
            "Author",
            attributes: [.init("name", .string, isOptional: true), .init("born", .int64, isOptional: true)],
            relationships: [
                .init("books", to: "Book", .many, inverse: "author"),
                .init("translations", to: "Book", .many, inverse: "translator"),
                .init("favourite", to: "Book", .one),
                .init("readings", to: "Book", .many),
            ]
        ),
        EntityDescription(
            "Book",
            attributes: [
                .init("name", .string, isOptional: true), .init("pages", .int64, isOptional: true),
                .init("price", .double, isOptional: true),
            ],
            relationships: [
                .init("author", to: "Author", .one, inverse: "books"),
                .init("translator", to: "Author", .one, inverse: "translations"),
                .init("tags", to: "Tag", .many, inverse: "books"),
                .init("chapters", to: "Chapter", .many, inverse: "book", deleteRule: .cascade, isOrdered: true),
                .init("cover", to: "Cover", .one, inverse: "book", deleteRule: .cascade),
            ]
        ),
        EntityDescription(
            "Tag",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("books", to: "Book", .many, inverse: "tags", isOrdered: true)]
        ),
        EntityDescription(
            "Chapter",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("book", to: "Book", .one, inverse: "chapters", isOptional: false)]
        ),
        EntityDescription(
            "Cover",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("book", to: "Book", .one, inverse: "cover")]
        )
    )

    /// Relationships of an entity with itself, of each cardinality and symmetry.
    static let people = model(
        EntityDescription(
            "Person",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("spouse", to: "Person", .one, inverse: "spouse"),
                .init("friends", to: "Person", .many, inverse: "friends"),
                .init("mentor", to: "Person", .one, inverse: "pupils"),
                .init("pupils", to: "Person", .many, inverse: "mentor"),
                .init("parents", to: "Person", .many, inverse: "children"),
                .init("children", to: "Person", .many, inverse: "parents"),
            ]
        )
    )

    /// One owner for each delete rule.
    static let rules = model(
        EntityDescription(
            "Owner",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("nullified", to: "Item", .many, inverse: "nullifying", deleteRule: .nullify),
                .init("cascaded", to: "Item", .many, inverse: "cascading", deleteRule: .cascade),
                .init("denied", to: "Item", .many, inverse: "denying", deleteRule: .deny),
                .init("ignored", to: "Item", .many, inverse: "ignoring", deleteRule: .noAction),
            ]
        ),
        EntityDescription(
            "Item",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("nullifying", to: "Owner", .one, inverse: "nullified"),
                .init("cascading", to: "Owner", .one, inverse: "cascaded"),
                .init("denying", to: "Owner", .one, inverse: "denied"),
                .init("ignoring", to: "Owner", .one, inverse: "ignored"),
            ]
        ),
        EntityDescription(
            "Node",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [
                .init("next", to: "Node", .one, inverse: "previous", deleteRule: .cascade),
                .init("previous", to: "Node", .one, inverse: "next"),
            ]
        )
    )

    /// An inheritance of three levels.
    static let animals = model(
        EntityDescription(
            "Animal",
            isAbstract: true,
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("keeper", to: "Keeper", .one, inverse: "animals")]
        ),
        EntityDescription(
            "Bird",
            superentity: "Animal",
            attributes: [.init("wingspan", .double, isOptional: true)],
            relationships: [.init("nest", to: "Nest", .one, inverse: "birds")]
        ),
        EntityDescription("Penguin", superentity: "Bird", attributes: [.init("dives", .int64, isOptional: true)]),
        EntityDescription("Cat", superentity: "Animal", attributes: [.init("lives", .int64, isOptional: true)]),
        EntityDescription(
            "Keeper",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("animals", to: "Animal", .many, inverse: "keeper")]
        ),
        EntityDescription(
            "Nest",
            attributes: [.init("name", .string, isOptional: true)],
            relationships: [.init("birds", to: "Bird", .many, inverse: "nest")]
        )
    )

    static func model(_ entities: EntityDescription...) -> ManagedObjectModel {
        do { return try ManagedObjectModel(entities: entities) } catch { fatalError("\(error)") }
    }
}
