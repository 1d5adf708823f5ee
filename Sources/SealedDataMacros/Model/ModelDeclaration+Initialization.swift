import SwiftSyntax

/// How initializers of the class assign its persisted properties.
///
/// As a rule by the setter, on a complete object: none of the stored properties that `@Model` leaves or adds needs a
/// value. A setter relates the object to others at once. Where something in the class keeps the object incomplete at
/// the start of its initializers, they could not call a setter there, and every property gets an init accessor: it
/// works in any order, but what it is given for a relationship stays pending until the relationship is read or the
/// object is inserted.
extension ModelDeclaration {
    /// Whether an object is incomplete when one of its initializers starts: a constant needs a value, or a property whose
    /// first assignment must not run its observers, or a superclass has to be initialized.
    ///
    /// Then every variable has an init accessor, else none.
    var startsIncomplete: Bool {
        mayHaveSuperclass || properties.contains { $0.mustBeInitialized && ($0.isLet || $0.hasObservers) }
    }

    /// Whether the class may inherit from another one.
    ///
    /// A superclass stands first among the inherited types. A macro sees names only, so that every name is taken for a
    /// class's that is not known to be a protocol's. Only the expansion that adds members knows whether it is a model
    /// class's; the accessors are written so that they fit in any case:
    ///
    /// - Their slots are counted from `_$firstSlot`, which is behind those of a model class above.
    /// - Init accessors write to `_$initial`. In a subclass of a model class these are the values that it adds, and else it
    ///   is the object's state itself.
    var mayHaveSuperclass: Bool {
        guard let first = declaration.inheritanceClause?.inheritedTypes.first else { return false }
        return !Self.wellKnownProtocols.contains(first.type.nameWithoutModule)
    }

    private static let wellKnownProtocols: Set<String> = [
        "Codable", "Comparable", "CustomDebugStringConvertible", "CustomLocalizedStringResourceConvertible",
        "CustomReflectable", "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Hashable",
        "Identifiable",
        "LosslessStringConvertible", "Observable", "ObservableObject", "PersistentModel", "Sendable",
        "TextOutputStream",
        "TextOutputStreamable", "Transferable",
    ]
}

extension TypeSyntax {
    /// The type's name without attributes such as `@unchecked` and without a well-known module in front.
    fileprivate var nameWithoutModule: String {
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.nameWithoutModule }
        if let member = self.as(MemberTypeSyntax.self) {
            let modules = ["Combine", "CoreTransferable", "Foundation", "Observation", "SealedData", "Swift"]
            if modules.contains(member.baseType.trimmedDescription) { return member.name.text }
        }
        return trimmedDescription
    }
}
