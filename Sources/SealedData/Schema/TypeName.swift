/// An encodable name of a type, from which a program that has the type can find it.
struct TypeName: Codable, Hashable, Sendable {
    /// The readable name, with modules.
    let qualified: String
    /// The mangled name; nil if the runtime cannot find the type by name, such as a private type.
    let mangled: String?

    init(_ type: any Any.Type) {
        qualified = String(reflecting: type)
        mangled = _mangledTypeName(type).flatMap { _typeByName($0) == type ? $0 : nil }
    }

    /// The type; nil if this program does not have it.
    var type: (any Any.Type)? { mangled.flatMap(_typeByName) }
}
