import ObjectGraph

/// The names of properties in JSON lines and CSV.
///
/// A property whose name belongs to the format has one more underscore: `__id` is a property `_id`, and `___id` is a
/// property `__id`.
enum MemberName {
    /// The name of the identifier.
    static let id = "_id"
    /// The name of the entity.
    static let entity = "_entity"

    /// The name of a property in a file.
    static func text(of property: Property) -> String {
        isEscapable(property.name) ? "_" + property.name : property.name
    }

    /// The property with a name in a file; nil if the entity has no such property.
    static func property(_ text: String, of entity: Entity) -> Property? {
        entity.propertiesByName[text.hasPrefix("__") && isEscapable(text) ? String(text.dropFirst()) : text]
    }

    /// Whether a name belongs to the format, perhaps with further underscores.
    private static func isEscapable(_ name: String) -> Bool {
        guard name.utf8.first == UInt8(ascii: "_") else { return false }
        let end = name.drop { $0 == "_" }
        return end == id.dropFirst() || end == entity.dropFirst()
    }
}
