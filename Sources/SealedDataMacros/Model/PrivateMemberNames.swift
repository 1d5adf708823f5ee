import SwiftSyntax

/// The names of the private members that `@Model` adds to a class.
///
/// Private members of a class are visible in the classes that its body declares. If such a class inherits from the
/// outer class, a member of the same name would override the member of the outer class. The names end with the name of
/// the class.
struct PrivateMemberNames {
    private let className: String

    /// Creates the names for the class with a name, which may have backticks.
    init(in className: TokenSyntax) {
        self.className = className.unescapedText
    }

    /// The stored property that initializers write to: see ``ModelDeclaration/mayHaveSuperclass``.
    var initial: String { className.prefixed("_$initial_") }

    /// The class whose initializer creates the state of an object of the superclass, or adds to it.
    var superclass: String { className.prefixed("_$superclass_") }

    /// The slot of the first property that the class declares.
    var firstSlot: String { className.prefixed("_$firstSlot_") }

    /// The function that makes the schema of the properties that the class declares.
    var ownMetadata: String { className.prefixed("_$ownMetadata_") }

    /// The function that makes the key paths of the properties that the class declares.
    var ownKeyPaths: String { className.prefixed("_$ownKeyPaths_") }
}
