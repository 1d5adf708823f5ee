/// The name of a type in a form that can be written down, and leads back to the type in a program that has it.
struct TypeName: Codable, Hashable, Sendable {
    /// The name for people, with modules.
    let qualified: String
    /// The name for the runtime; nil where the type has none that leads back to it, such as a private one.
    let mangled: String?

    init(_ type: any Any.Type) {
        qualified = String(reflecting: type)
        mangled = _mangledTypeName(type).flatMap { _typeByName($0) == type ? $0 : nil }
    }

    /// The type, or nil where this program does not have it.
    var type: (any Any.Type)? { mangled.flatMap(_typeByName) }
}
