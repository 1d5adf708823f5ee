@testable import ObjectGraph

/// Articles and essays with full-text indexes.
enum Archive {
    static func model(_ indexes: [FetchIndexDescription]? = nil) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Article",
                attributes: [
                    AttributeDescription("title", .string), AttributeDescription("body", .string, isOptional: true),
                    AttributeDescription("year", .int64),
                ],
                indexes: indexes ?? [
                    FetchIndexDescription(["title", "body"], kind: .fullText(FullTextOptions(prefixLengths: [2, 3])))
                ]
            ),
            EntityDescription(
                "Essay",
                superentity: "Article",
                attributes: [AttributeDescription("summary", .string, isOptional: true)],
                indexes: [FetchIndexDescription(["summary"], kind: .fullText(FullTextOptions(tokenizer: .porter)))]
            ),
        ])
    }
}
