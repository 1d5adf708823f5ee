import QueryLanguage
import TestSupport

/// A model with attributes of every type for tests of predicate formats.
enum FormatFixtures {
    static let model = ManagedObjectModel.valid(
        EntityDescription(
            "Thing",
            attributes: [
                .init("name", .string, isOptional: true), .init("count", .int64, isOptional: true),
                .init("small", .int16, isOptional: true), .init("large", .uint64, isOptional: true),
                .init("isOld", .bool, isOptional: true), .init("ratio", .float, isOptional: true),
                .init("weight", .double, isOptional: true), .init("price", .decimal, isOptional: true),
                .init("made", .date, isOptional: true), .init("code", .uuid, isOptional: true),
                .init("link", .url, isOptional: true), .init("bytes", .data, isOptional: true),
                .init("labels", .composite, isOptional: true), .init("in", .string, isOptional: true),
                .init("first name", .string, isOptional: true), .init("名前", .string, isOptional: true),
            ],
            relationships: [
                .init("owner", to: "Person", .one, inverse: "things"),
                .init("tags", to: "Tag", .many, inverse: "things"),
            ]
        ),
        EntityDescription(
            "Tool",
            superentity: "Thing",
            attributes: [.init("power", .int64, isOptional: true), .init("grade", .int64, isOptional: true)]
        ),
        EntityDescription("Toy", superentity: "Thing", attributes: [.init("grade", .string, isOptional: true)]),
        EntityDescription(
            "Person",
            attributes: [.init("name", .string, isOptional: true), .init("age", .int64, isOptional: true)],
            relationships: [.init("things", to: "Thing", .many, inverse: "owner")]
        ),
        EntityDescription(
            "Tag",
            attributes: [.init("label", .string, isOptional: true), .init("rank", .int64, isOptional: true)],
            relationships: [.init("things", to: "Thing", .many, inverse: "tags")]
        )
    )

    static let thing = model.entitiesByName["Thing"]!
    static let person = model.entitiesByName["Person"]!

    /// A condition on things.
    static func condition(_ format: String, _ arguments: Any?...) throws -> QueryExpression {
        try QueryExpression(format: format, arguments: arguments, entity: thing)
    }

    /// A value of things.
    static func value(_ format: String, _ arguments: Any?...) throws -> QueryExpression {
        try QueryExpression(valueFormat: format, arguments: arguments, entity: thing)
    }

    /// A path of a thing's properties.
    static func path(_ names: String...) -> QueryExpression { .path(from: 0, model.properties("Thing", names)) }
}
