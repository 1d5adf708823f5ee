import Foundation
@testable import ObjectGraph
@testable import SealedStore

/// The model and the content of the kept stores with a history, global identifiers, and relationships that share an
/// inverse.
enum HistoryFixture {
    static let entities: [EntityDescription] = [
        EntityDescription(
            "Yard",
            attributes: [AttributeDescription("name", .string, preservesValueOnDeletion: true)],
            relationships: [
                RelationshipDescription("leading", to: "Plant", .many, sharedInverse: "yard"),
                RelationshipDescription("trailing", to: "Plant", .many, sharedInverse: "yard", isOrdered: true),
            ]
        ),
        EntityDescription(
            "Plant",
            attributes: [AttributeDescription("name", .string), AttributeDescription("height", .double)],
            relationships: [RelationshipDescription("yard", to: "Yard", .one)]
        ),
    ]

    static let options = HistoryOptions(recordsValues: true, identifiesObjects: true)

    /// The lines of ``MigratingStore/content()``.
    static let content = [
        "Yard 1: leading=[\"Plant 1\"], name='front', trailing=[\"Plant 3\", \"Plant 2\"]",
        "Plant 1: height=1.5, name='fern', yard=Yard 1",
        "Plant 2: height=0.25, name='moss', yard=Yard 1",
        "Plant 3: height=-0.0, name='e\u{301}', yard=Yard 1",
    ]

    /// The changes of the transactions, with the author and the old and new values.
    static let transactions = [
        "gardener: + Yard 1 [] [name='front'], + Yard 2 [] [name='back']",
        """
        nil: + Plant 1 [] [height=1.5, name='fern', yard=1], + Plant 2 [] [height=0.5, name='moss', yard=1], \
        + Plant 3 [] [height=-0.0, name='e\u{301}', yard=1], * Yard 1: leading trailing [] []
        """,
        "gardener: * Plant 2: height [height=0.5] [height=0.25], - Yard 2 [name='back'] []",
    ]

    /// Inserts, changes and deletes objects.
    static func fill(_ store: MigratingStore) throws {
        store.context.transactionAuthor = "gardener"
        let yards = try ["front", "back"].map { name in
            let yard = store.insert("Yard", ["name": .text(name)])
            try store.context.obtainPermanentIDs(for: [yard])
            return yard
        }
        try store.context.save()
        store.context.transactionAuthor = nil
        let plants = try [("fern", 1.5), ("moss", 0.5), ("e\u{301}", -0.0)].map { name, height in
            let plant = store.insert("Plant", ["name": .text(name), "height": .real(height)])
            try store.context.obtainPermanentIDs(for: [plant])
            return plant
        }
        yards[0].setMembers([plants[0]], forRelationship: "leading")
        yards[0].setMembers([plants[2], plants[1]], forRelationship: "trailing")
        try store.context.save()
        store.context.transactionAuthor = "gardener"
        plants[1]["height"] = .real(0.25)
        store.context.delete(yards[1])
        try store.context.save()
    }
}

extension PersistentHistoryTransaction {
    /// The author and the changes with their values.
    var description: String {
        let changes = zip(lines, changes).map { line, change in
            "\(line) \(Self.text(change.values.old)) \(Self.text(change.values.new))"
        }
        return "\(author ?? "nil"): \(changes.joined(separator: ", "))"
    }

    private static func text(_ values: [String: Value]) -> String {
        "[\(values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ", "))]"
    }
}
