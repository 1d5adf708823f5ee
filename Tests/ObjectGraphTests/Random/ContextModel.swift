import ObjectGraph

/// The models of ``ContextProgram``: two entities with some of several kinds of relationships.
enum ContextModel {
    enum Kind: Int, CaseIterable, Comparable {
        /// To-many with a to-one inverse: unordered, ordered, and with delete rule `cascade`.
        case list, orderedList, cascadingList
        /// One-to-one, among two entities and within one.
        case partner, chain
        case manyToMany, orderedManyToMany
        /// Two to-many relationships with one inverse.
        case shared

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        /// The relationships of an owner to items.
        var ofOwner: [RelationshipDescription] {
            switch self {
            case .list: [.init("items", to: "Item", .many, inverse: "owner")]
            case .orderedList: [.init("rows", to: "Item", .many, inverse: "sheet", isOrdered: true)]
            case .cascadingList:
                [.init("parts", to: "Item", .many, inverse: "whole", deleteRule: .cascade, isOrdered: true)]
            case .partner: [.init("badge", to: "Item", .one, inverse: "bearer")]
            case .chain: []
            case .manyToMany: [.init("tags", to: "Item", .many, inverse: "tagged")]
            case .orderedManyToMany: [.init("ranks", to: "Item", .many, inverse: "ranking", isOrdered: true)]
            case .shared:
                [
                    .init("players", to: "Item", .many, sharedInverse: "team"),
                    .init("coaches", to: "Item", .many, sharedInverse: "team"),
                ]
            }
        }

        /// The relationships of an item.
        var ofItem: [RelationshipDescription] {
            switch self {
            case .list: [.init("owner", to: "Owner", .one, inverse: "items")]
            case .orderedList: [.init("sheet", to: "Owner", .one, inverse: "rows")]
            case .cascadingList: [.init("whole", to: "Owner", .one, inverse: "parts")]
            case .partner: [.init("bearer", to: "Owner", .one, inverse: "badge")]
            case .chain:
                [
                    .init("next", to: "Item", .one, inverse: "previous"),
                    .init("previous", to: "Item", .one, inverse: "next"),
                ]
            case .manyToMany: [.init("tagged", to: "Owner", .many, inverse: "tags")]
            case .orderedManyToMany: [.init("ranking", to: "Owner", .many, inverse: "ranks")]
            case .shared: [.init("team", to: "Owner", .one)]
            }
        }
    }

    static func model(_ kinds: [Kind]) -> ManagedObjectModel {
        Fixtures.model(
            EntityDescription(
                "Owner",
                attributes: [.init("name", .string, isOptional: true), .init("number", .int64, isOptional: true)],
                relationships: kinds.flatMap(\.ofOwner)
            ),
            EntityDescription(
                "Item",
                attributes: [.init("name", .string, isOptional: true), .init("number", .int64, isOptional: true)],
                relationships: kinds.flatMap(\.ofItem)
            )
        )
    }
}
