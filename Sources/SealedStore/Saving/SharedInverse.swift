import ObjectGraph

/// A to-one relationship that several to-many relationships share as their inverse, as conditions of SQL.
///
/// A member is in at least one of the relationships of the owner to which its reference leads, and in none of another
/// owner.
struct SharedInverse {
    /// The to-one relationship.
    let reference: Relationship
    /// The to-many relationships with their pairs.
    let sharers: [(relationship: Relationship, pairs: JoinTable)]
    /// The name of the members' table, quoted.
    let table: String
    /// The column of the reference, quoted.
    let column: String

    /// - Returns: Nil for another relationship.
    init?(_ reference: Relationship, _ schema: StoreSchema) {
        guard !reference.isToMany, !reference.sharers.isEmpty else { return nil }
        self.reference = reference
        sharers = reference.sharers.compactMap { sharer in schema.joinTables[sharer.index].map { (sharer, $0) } }
        // A to-one relationship that shares the inverse has no pairs: it is in the row of the owner.
        guard sharers.count == reference.sharers.count else { return nil }
        table = schema.table(of: reference.source).name
        column = schema.keyColumn(of: reference).name
    }

    /// The shared inverses of a model.
    static func all(_ schema: StoreSchema) -> [SharedInverse] {
        schema.model.relationships.compactMap { SharedInverse($0, schema) }
    }

    /// The condition that the reference of a member leads to an owner that does not have the member.
    ///
    /// - Parameter member: The alias of the member's row.
    func lacksMember(_ member: String) -> String {
        let exists = sharers.map { _, pairs in
            """
            EXISTS (SELECT 1 FROM \(pairs.name) AS p WHERE p.\(pairs.owner) = \(member).\(column) \
            AND p.\(pairs.member) = \(member)."_id")
            """
        }
        return "\(member).\(column) IS NOT NULL AND NOT (\(exists.joined(separator: " OR ")))"
    }

    /// The condition that other owners have a member than the one to which its reference leads.
    ///
    /// - Parameter member: The alias of the member's row.
    func hasOtherOwner(_ member: String) -> String {
        sharers.map { _, pairs in
            """
            EXISTS (SELECT 1 FROM \(pairs.name) AS p WHERE p.\(pairs.member) = \(member)."_id" \
            AND p.\(pairs.owner) IS NOT \(member).\(column))
            """
        }.joined(separator: " OR ")
    }

    /// The condition that the reference of the member of a pair does not lead to the owner.
    ///
    /// - Parameter pair: The alias of the pair.
    func isOfOtherOwner(_ pair: String, _ pairs: JoinTable) -> String {
        """
        EXISTS (SELECT 1 FROM \(table) AS m WHERE m."_id" = \(pair).\(pairs.member) \
        AND m.\(column) IS NOT \(pair).\(pairs.owner))
        """
    }
}
