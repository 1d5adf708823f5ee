/// A step of a path into a composite value.
public enum ComponentKey: Hashable, Sendable {
    /// The value of a property, or of a dictionary's key.
    case name(String)
    /// The element of a list at an index, from 0; a negative index counts from the end.
    case index(Int)
}
