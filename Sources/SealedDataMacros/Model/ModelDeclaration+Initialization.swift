import SwiftSyntax

/// The initialization of the class's persisted properties.
///
/// By default initializers assign them through setters, on a complete object: none of the stored properties that
/// `@Model` leaves or adds needs a value. A setter updates inverse relationships at once. If the class has a member
/// that keeps the object incomplete at the start of its initializers, they cannot call a setter there, and every
/// property gets an init accessor. Init accessors work in any order, but an assigned relationship stays pending until
/// the relationship is read or the object is inserted.
extension ModelDeclaration {
    /// Whether an object is incomplete when one of its initializers starts: a constant needs a value, the first
    /// assignment of a property must not run its observers, or a superclass has to be initialized.
    ///
    /// If it is, every variable has an init accessor; otherwise none has.
    var startsIncomplete: Bool {
        mayHaveSuperclass || properties.contains { $0.mustBeInitialized && ($0.isLet || $0.hasObservers) }
    }

    /// Whether the class may have a superclass.
    ///
    /// A superclass is the first of the inherited types. A macro sees names only, so every name that is not a known
    /// protocol may name a class. Only the expansion that adds members knows whether the superclass is a model class.
    /// The accessors are valid in all three cases: no superclass, a superclass that is no model class, and a model
    /// class.
    ///
    /// - Their slots are counted from the first slot of the class, which follows the slots of a model superclass.
    /// - Init accessors write to a private property. In a subclass of a model class it contains the values that the
    ///   subclass adds, otherwise the object's state. ``PrivateMemberNames`` has the names of both.
    var mayHaveSuperclass: Bool {
        guard let first = declaration.inheritanceClause?.inheritedTypes.first else { return false }
        return !Self.isWellKnownProtocol(first.type)
    }

    /// Whether one of the inherited types may isolate the class.
    var mayInheritIsolation: Bool {
        declaration.inheritanceClause?.inheritedTypes.contains { !Self.isWellKnownProtocol($0.type) } ?? false
    }

    /// Returns whether a type is a protocol of a library, which is not isolated.
    private static func isWellKnownProtocol(_ type: TypeSyntax) -> Bool {
        wellKnownProtocols.contains(type.nameWithoutModule)
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
    /// The type's name without attributes such as `@unchecked` and without a well-known module name.
    fileprivate var nameWithoutModule: String {
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.nameWithoutModule }
        if let member = self.as(MemberTypeSyntax.self) {
            let modules = ["Combine", "CoreTransferable", "Foundation", "Observation", "SealedData", "Swift"]
            if modules.contains(member.baseType.trimmedDescription) { return member.name.text }
        }
        return trimmedDescription
    }
}
