/// A part of a predicate, or of a sort descriptor, that a store cannot evaluate with exactly Swift's meaning.
struct UnsupportedPredicate: Error, Hashable, CustomStringConvertible {
    /// What the part is, in words. It names types, properties and operators, never a value.
    let part: String

    init(_ part: String) {
        self.part = part
    }

    /// A kind of node that the reader does not know.
    init<Node>(unknown node: Node.Type) {
        part = "'\(Self.name(of: node))'"
    }

    var description: String { part }

    /// The name of a type without its module and its generic arguments, which for a node are the whole tree below it.
    private static func name<T>(of type: T.Type) -> String {
        String(String(describing: type).prefix { $0 != "<" })
    }
}
