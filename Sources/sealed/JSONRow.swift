import Foundation
import ObjectGraph

/// An object as a line of JSON, its members in the order of the entity's properties.
struct JSONRow {
    /// The line, without a line break.
    let text: String

    init(_ object: ManagedObject) {
        var members = ["\"_id\":\(object.managedObjectID.key)"]
        for property in object.managedObjectID.entity.properties {
            members.append("\(Self.quoted(property.name)):\(Self.value(of: property, in: object))")
        }
        text = "{" + members.joined(separator: ",") + "}"
    }

    private static func value(of property: Property, in object: ManagedObject) -> String {
        switch property {
        case .attribute(let attribute):
            switch AttributeText(object[attribute.name], as: attribute.type) {
            case .none: return "null"
            case .word(let text): return quoted(text)
            case .literal(let text): return withoutDelete(text)
            }
        case .relationship(let relationship) where relationship.isToMany:
            let keys = object.members(forRelationship: relationship.name).map { String($0.managedObjectID.key) }
            return "[" + keys.joined(separator: ",") + "]"
        case .relationship(let relationship):
            let destination = object.destination(forRelationship: relationship.name)
            return destination.map { String($0.managedObjectID.key) } ?? "null"
        }
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    /// The text as a string of JSON (RFC 8259, section 7).
    private static func quoted(_ text: String) -> String {
        guard let data = try? encoder.encode(text) else { preconditionFailure("a text has a JSON form") }
        return withoutDelete(String(decoding: data, as: UTF8.self))
    }

    /// JSON permits the delete character, in a string only; a terminal acts on it.
    private static func withoutDelete(_ json: String) -> String { json.replacing("\u{7F}", with: "\\u007f") }
}
