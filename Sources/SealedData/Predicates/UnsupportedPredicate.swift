/// A part of a predicate or sort descriptor that a store cannot evaluate exactly like Swift.
struct UnsupportedPredicate: Error, Hashable, CustomStringConvertible {
    /// The description of the part. It names types, properties and operators, never a value.
    let part: String

    init(_ part: String) {
        self.part = part
    }

    /// Creates the error for an unknown kind of node.
    init<Node>(unknown node: Node.Type) {
        part = "'\(Self.name(of: node))'"
    }

    var description: String { part }

    /// Returns the name of a type without its module and generic arguments. The generic arguments of a node are the
    /// whole tree below it.
    private static func name<T>(of type: T.Type) -> String {
        String(String(describing: type).prefix { $0 != "<" })
    }
}
