@_exported public import struct SealedStore.DuplicateRule

extension DuplicateRule {
    /// A rule that keeps the first of the objects of a class with the same unique values.
    ///
    /// ```swift
    /// enum TripsPlan: SchemaMigrationPlan {
    ///     static var duplicateRules: [DuplicateRule] {
    ///         [.keepFirst(of: TripsV2.Trip.self, by: \.modified, order: .reverse)]
    ///     }
    ///     …
    /// }
    /// ```
    ///
    /// The kept object keeps its values. By default it also gets the relationships of the other objects, which are then
    /// deleted: see ``DuplicateRule/Relationships``.
    ///
    /// - Parameters:
    ///   - type: The class with the uniqueness constraint, in the new schema.
    ///   - keyPaths: The attributes by which the objects are ordered. Texts are in the order of their Unicode scalars.
    ///     Objects with equal values, or all if there are no key paths, are in the order of their insertion.
    ///   - order: The order. The first object in the reverse order of insertion is the last inserted one.
    ///   - relationships: The effect on the relationships of the deleted objects.
    /// - Precondition: The key paths lead to persisted attributes of the class.
    public static func keepFirst<Model: PersistentModel>(
        of type: Model.Type,
        by keyPaths: PartialKeyPath<Model>...,
        order: SortOrder = .forward,
        relationships: Relationships = .moveToKeptObject
    ) -> DuplicateRule {
        let sort = keyPaths.map { keyPath in
            guard let name = PropertyLookup.name(of: keyPath, in: type) else {
                preconditionFailure("\(keyPath) is not a persisted property of \(type)")
            }
            return SortKey(name, ascending: order == .forward)
        }
        return DuplicateRule(
            entity: String(describing: type),
            sort: sort,
            keepsLastInserted: order == .reverse,
            relationships: relationships
        )
    }
}
