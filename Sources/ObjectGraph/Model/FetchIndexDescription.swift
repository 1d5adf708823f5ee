/// What a program declares about an index: the properties over which a store builds it, in order.
public struct FetchIndexDescription: Codable, Hashable, Sendable {
    /// The kinds of index.
    public enum Kind: String, Codable, Sendable {
        /// A B-tree, for equality, ranges and sorting.
        case binary
        /// An R-tree, for ranges over several numeric properties at once.
        case rtree
    }

    /// The names of the properties.
    public var properties: [String]
    /// The kind of index.
    public var kind: Kind

    /// Makes a declaration.
    public init(_ properties: [String], kind: Kind = .binary) {
        self.properties = properties
        self.kind = kind
    }
}
