import ObjectGraph

/// The pairs of an old relationship, converted to pairs of a new relationship.
///
/// A relationship is a set of pairs of owner and member, independent of the table that stores them. If the old
/// relationship is the inverse of the new relationship, its pairs are reversed.
struct PairSource {
    /// The old relationship.
    let old: Relationship
    /// Whether the old relationship leads from the new members to the new owners.
    let isReversed: Bool
    /// The old entities whose objects are owners in these pairs.
    let owners: [Entity]
    /// The old entities whose objects are members in these pairs.
    let members: [Entity]
    /// The old entities that keep their objects, but can no longer be members of the new relationship.
    let foreignMembers: [Entity]
    let ownerOffset: Int64
    let memberOffset: Int64
    private let schema: StoreSchema
    private let storage: Storage

    /// The table that stores the pairs, with expressions over a row with the alias `p`.
    private struct Storage {
        let table: String
        let source: String
        let target: String
        /// The position of the target among the targets of its source.
        let targetPosition: String?
        /// The position of the source among the sources of its target.
        let sourcePosition: String?
        /// Whether the key of the row is the source (true) or the target (false); nil for a join table.
        let isRowSource: Bool?
    }

    init(
        _ old: Relationship,
        isReversed: Bool,
        owners: [Entity],
        members: [Entity],
        foreignMembers: [Entity],
        ownerOffset: Int64,
        memberOffset: Int64,
        _ schema: StoreSchema
    ) {
        self.old = old
        self.isReversed = isReversed
        self.owners = owners
        self.members = members
        self.foreignMembers = foreignMembers
        self.ownerOffset = ownerOffset
        self.memberOffset = memberOffset
        self.schema = schema
        let inverse = old.inverse
        switch old.placement {
        case .sourceKey:
            let table = schema.table(of: old.source)
            storage = Storage(
                table: table.name,
                source: #"p."_id""#,
                target: "p.\(schema.keyColumn(of: old).name)",
                targetPosition: nil,
                sourcePosition: inverse.flatMap { table.positionColumns[$0] }.map { "p.\($0)" },
                isRowSource: true
            )
        case .destinationKey:
            let table = schema.table(of: old.destination)
            storage = Storage(
                table: table.name,
                source: inverse.map { "p.\(schema.keyColumn(of: $0).name)" } ?? "NULL",
                target: #"p."_id""#,
                targetPosition: table.positionColumns[old].map { "p.\($0)" },
                sourcePosition: nil,
                isRowSource: false
            )
        case .joinTable:
            let table = schema.joinTables[old.index]
            let back = inverse.flatMap { $0 === old ? nil : schema.joinTables[$0.index] }
            storage = Storage(
                table: table?.name ?? "",
                source: "p.\(table?.owner ?? "")",
                target: "p.\(table?.member ?? "")",
                targetPosition: table?.position.map { "p.\($0)" },
                sourcePosition: back?.position.map { "p.\($0)" },
                isRowSource: nil
            )
        }
    }

    var table: String { storage.table }
    /// The column by which the table is ordered, quoted.
    var orderingColumn: String { storage.isRowSource == nil ? JoinTable.canonicalOwner : #""_id""# }
    /// The old keys of owner and member.
    var owner: String { isReversed ? storage.target : storage.source }
    var member: String { isReversed ? storage.source : storage.target }
    /// The position of the member among the members of its owner; nil if the old relationship had no order.
    var memberPosition: String? { isReversed ? storage.sourcePosition : storage.targetPosition }
    /// The position of the owner among the owners of its member.
    var ownerPosition: String? { isReversed ? storage.targetPosition : storage.sourcePosition }

    /// The new key of the owner.
    var newOwner: String { RowSource.key(owner, plus: ownerOffset) }
    var newMember: String { RowSource.key(member, plus: memberOffset) }

    /// Whether an owner has at most one member in the old pairs.
    var isToOne: Bool { isReversed ? old.inverse.map { !$0.isToMany } ?? false : !old.isToMany }

    private var ownerEnd: Entity { isReversed ? old.destination : old.source }
    private var memberEnd: Entity { isReversed ? old.source : old.destination }

    /// The conditions under which the row is a pair of one of the owners and one of the members.
    var conditions: [String] { isPair + condition(isOwner: true, owners) + condition(isOwner: false, members) }

    /// The conditions under which the row is such a pair if its owner is known to be one of the owners.
    private var memberConditions: [String] { isPair + condition(isOwner: false, members) }

    private var isPair: [String] {
        switch storage.isRowSource {
        case true?: ["\(storage.target) IS NOT NULL"]
        case false?: ["\(storage.source) IS NOT NULL"]
        case nil: []
        }
    }

    private func condition(isOwner: Bool, _ entities: [Entity]) -> [String] {
        let end = isOwner ? ownerEnd : memberEnd
        if end.family.allSatisfy({ $0.isAbstract || entities.contains($0) }) { return [] }
        let table = schema.table(of: end)
        let isSourceEnd = isOwner != isReversed
        if storage.isRowSource == isSourceEnd { return [RowSource.condition(entities, table, "p")] }
        let key = isOwner ? owner : member
        return [
            """
            EXISTS (SELECT 1 FROM \(table.name) AS e WHERE e."_id" = \(key) \
            AND \(RowSource.condition(entities, table, "e")))
            """
        ]
    }

    // MARK: Statements

    /// A SELECT of the new pairs: the new keys of owner and member.
    var selection: String {
        "SELECT \(newOwner) AS owner, \(newMember) AS member FROM \(table) AS p\(conditions.joined(behind: "WHERE"))"
    }

    /// The statement that counts the pairs that would be lost; nil if no pair can be lost.
    var foreignMemberCount: String? {
        guard !foreignMembers.isEmpty else { return nil }
        let conditions = isPair + condition(isOwner: true, owners) + condition(isOwner: false, foreignMembers)
        return "SELECT count(*) FROM \(table) AS p\(conditions.joined(behind: "WHERE"))"
    }

    /// An expression over the pair whose owner is the row `s` of a table.
    ///
    /// - Parameters:
    ///   - sql: An expression over the row of the pair, `p`: one of the properties above.
    ///   - ownerTable: The old table of the row `s`.
    /// - Returns: The column, if the row `s` itself is the pair and needs no condition; otherwise a subquery, which
    ///   uses an index.
    func expression(_ sql: String, ownerTable: String) -> ColumnExpression {
        let isRow = storage.isRowSource == !isReversed && table == ownerTable
        guard isRow, condition(isOwner: false, members).isEmpty else {
            let conditions = [#"\#(owner) = s."_id""#] + memberConditions
            return .computed("(SELECT \(sql) FROM \(table) AS p\(conditions.joined(behind: "WHERE")))")
        }
        let inRow = sql.hasPrefix("p.") ? String(sql.dropFirst(2)) : nil
        guard let inRow else { return .computed(sql) }
        return inRow.utf8.last == UInt8(ascii: "\"") ? .column(inRow) : .computed("\(RowSource.alias).\(inRow)")
    }
}
