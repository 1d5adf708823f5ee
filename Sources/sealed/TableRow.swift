import Foundation
import ObjectGraph
import Terminal

/// An object as a row of a table: its key, its attributes and its to-one relationships.
struct TableRow {
    /// The text of each column.
    let cells: [String]

    /// Makes the row of an object of an entity or its subentities.
    init(_ object: ManagedObject, as entity: Entity) {
        cells =
            [String(object.managedObjectID.key)]
            + Self.properties(of: entity).map { property in
                switch property {
                case .attribute(let attribute): Self.text(of: object[attribute.name], as: attribute.type)
                case .relationship(let relationship):
                    object.destination(forRelationship: relationship.name)
                        .map { String($0.managedObjectID.key) } ?? ""
                }
            }
    }

    /// The columns for the objects of an entity.
    static func columns(of entity: Entity) -> [TextTable.Column] {
        [.number("_id")]
            + properties(of: entity).map { property in
                if case .attribute(let attribute) = property, !attribute.type.isNumber { return .text(property.name) }
                return .number(property.name)
            }
    }

    private static func properties(of entity: Entity) -> [Property] {
        entity.properties.filter { property in
            if case .relationship(let relationship) = property { !relationship.isToMany } else { true }
        }
    }

    private static func text(of value: Value, as type: AttributeType) -> String {
        switch AttributeText(value, as: type) {
        case .none: ""
        case .word(let text), .literal(let text): text
        }
    }
}
