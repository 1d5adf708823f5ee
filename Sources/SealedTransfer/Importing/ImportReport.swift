/// The result of an import.
public struct ImportReport: Hashable, Sendable, Codable {
    /// The objects of one entity.
    public struct EntityCount: Hashable, Sendable, Codable {
        /// The name of the entity.
        public let entity: String
        /// The number of new objects.
        public var inserted = 0
        /// The number of existing objects that were updated.
        public var updated = 0
    }

    /// The numbers of objects by entity, in the order of the model, without entities that have none.
    public internal(set) var entities: [EntityCount] = []
    /// The tables and columns of the source that were not imported, with the reason, one line each.
    public internal(set) var notImported: [String] = []
    /// The properties of the model for which the source has no values, as `Entity.property`.
    public internal(set) var missing: [String] = []
    /// The values that were left out, see ``ImportOptions/UnfitContent/omit``.
    public internal(set) var omitted: [UnfitValues] = []

    /// The number of new and updated objects.
    public var objectCount: Int { entities.reduce(0) { $0 + $1.inserted + $1.updated } }
}
