import ObjectGraph
import SealedTransfer

/// An object as a line of JSON, its members in the order of the entity's properties. Characters that a terminal acts
/// on, or does not show, are escaped.
struct JSONRow {
    /// The line, without a line break.
    let text: String

    init(_ object: ManagedObject) {
        var members = ["\"_id\":\(object.managedObjectID.key)"]
        for property in object.managedObjectID.entity.properties {
            members.append("\(JSONString.quoted(property.name)):\(Self.value(of: property, in: object))")
        }
        text = "{" + members.joined(separator: ",") + "}"
    }

    private static func value(of property: Property, in object: ManagedObject) -> String {
        switch property {
        case .attribute(let attribute):
            switch AttributeText(object[attribute.name], as: attribute.type) {
            case .none: return "null"
            case .word(let text): return JSONString.quoted(text)
            // In JSON, a tab stands between values only.
            case .literal(let text): return JSONString.visible(text.replacing("\t", with: " "))
            }
        case .relationship(let relationship) where relationship.isToMany:
            let keys = object.members(forRelationship: relationship.name).map { String($0.managedObjectID.key) }
            return "[" + keys.joined(separator: ",") + "]"
        case .relationship(let relationship):
            let destination = object.destination(forRelationship: relationship.name)
            return destination.map { String($0.managedObjectID.key) } ?? "null"
        }
    }
}
