/// The limits of the files that an import accepts.
public struct TransferLimits: Hashable, Sendable {
    /// The largest number of bytes of a line of JSON, or of a record of CSV. An import holds one at a time in memory.
    public var lineByteCount = 256 << 20
    /// The largest number of entities of an inferred model.
    public var entityCount = 10_000
    /// The largest number of properties of an entity of an inferred model, and of columns of a CSV file. The properties
    /// are the columns and foreign keys of a table, and the foreign keys that lead to it.
    public var propertyCount = 2_000

    /// Creates the default limits.
    public init() {}
}
