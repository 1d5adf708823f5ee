import Foundation
@testable import ObjectGraph
@testable import SealedStore

/// The model and the content of the stores that are kept as files: every attribute type and kind of index, and
/// inheritance. ``RelationshipFixture`` has the other kinds of relationships.
enum FixtureModel {
    static let entities: [EntityDescription] = [
        EntityDescription(
            "Values",
            attributes: types.flatMap { type in
                [
                    AttributeDescription("\(type.rawValue)Value", type),
                    AttributeDescription("\(type.rawValue)Optional", type, isOptional: true),
                ]
            }
        ),
        EntityDescription(
            "Item",
            attributes: [
                AttributeDescription("name", .string), AttributeDescription("rank", .int64, isOptional: true),
            ],
            relationships: [
                RelationshipDescription("box", to: "Box", .one, inverse: "items"),
                RelationshipDescription("tags", to: "Tag", .many, inverse: "items"),
                RelationshipDescription("next", to: "Item", .one),
            ],
            indexes: [FetchIndexDescription(["rank", "name"])]
        ),
        EntityDescription(
            "SpecialItem",
            superentity: "Item",
            attributes: [AttributeDescription("weight", .double)],
            uniquenessConstraints: [["weight"]]
        ),
        EntityDescription(
            "Box",
            attributes: [AttributeDescription("label", .string)],
            relationships: [
                RelationshipDescription(
                    "items",
                    to: "Item",
                    .many,
                    inverse: "box",
                    deleteRule: .cascade,
                    isOrdered: true
                ),
                RelationshipDescription("favourites", to: "Item", .many),
            ],
            uniquenessConstraints: [["label"]]
        ),
        EntityDescription(
            "Tag",
            attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("items", to: "Item", .many, inverse: "tags")]
        ),
        EntityDescription(
            "Place",
            attributes: [
                AttributeDescription("latitude", .double), AttributeDescription("longitude", .double),
                AttributeDescription("text", .string),
            ],
            indexes: [
                FetchIndexDescription(["latitude", "longitude"], kind: .rtree),
                FetchIndexDescription(["text"], kind: .fullText(FullTextOptions())),
            ]
        ),
    ]

    /// The types of the first format.
    static let types = AttributeType.allCases.filter { StoreFormat.number(of: $0) == StoreFormat.first }

    /// The values of an attribute of a type: zero, the smallest and the largest.
    static func values(of type: AttributeType) -> [Value] {
        let date = Date(timeIntervalSinceReferenceDate: 0.1)
        return switch type {
        case .int8: [0, Int8.min, Int8.max].map { .integer(Int64($0)) }
        case .int16: [0, Int16.min, Int16.max].map { .integer(Int64($0)) }
        case .int32: [0, Int32.min, Int32.max].map { .integer(Int64($0)) }
        case .int64: [0, Int64.min, Int64.max].map { .integer($0) }
        case .uint8: [0, 1, UInt8.max].map(\.storedValue)
        case .uint16: [0, 1, UInt16.max].map(\.storedValue)
        case .uint32: [0, 1, UInt32.max].map(\.storedValue)
        case .uint64: [0, 1, UInt64.max].map(\.storedValue)
        case .bool: [false, true, true].map(\.storedValue)
        case .float: [0, -Float.greatestFiniteMagnitude, Float.leastNonzeroMagnitude].map(\.storedValue)
        case .double: [-0.0, -Double.greatestFiniteMagnitude, Double.leastNonzeroMagnitude].map(\.storedValue)
        case .decimal: ["0", "-123456789.000000001", "1E+100"].map { Decimal(string: $0)!.storedValue }
        case .string: ["", "e\u{301}\u{0}\u{1F600}", String(repeating: "long ", count: 2_000)].map(\.storedValue)
        case .date: [date, .distantPast, .distantFuture].map(\.storedValue)
        case .duration: [0, Int64.min, Int64.max].map(Value.integer)
        case .uuid:
            [
                "00000000-0000-0000-0000-000000000000", "12345678-9ABC-4DEF-8012-3456789ABCDE",
                "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            ]
            .map { UUID(uuidString: $0)!.storedValue }
        case .url:
            ["https://example.org/a?b=c", "file:///tmp/x", "mailto:a@example.org"].map { URL(string: $0)!.storedValue }
        case .data: [Data(), Data([0, 255]), Data(repeating: 7, count: 20_000)].map(\.storedValue)
        case .composite: [#"{"a":1}"#, "[]", #""text""#].map { .text($0) }
        }
    }
}
