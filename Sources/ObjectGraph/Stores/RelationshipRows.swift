/// The destination or the members of one object's relationship.
public enum RelationshipValue: Hashable, Sendable {
    case toOne(ManagedObjectID?)
    case toMany([ManagedObjectID])

    /// The identifiers in either case.
    public var ids: [ManagedObjectID] {
        switch self {
        case .toOne(let id): id.map { [$0] } ?? []
        case .toMany(let ids): ids
        }
    }
}

/// The members of one to-many relationship of several objects.
public struct RelationshipRows: Sendable {
    /// The members' keys, owner by owner.
    public private(set) var members: [Int64] = []
    /// The owners' keys, each with its range of `members`.
    public private(set) var owners: [(key: Int64, members: Range<Int>)] = []
    /// The members' rows that the store has read; each at most once.
    public var rows = RowBatch()

    /// A result without owners.
    public init() {}

    /// Adds an owner with its members.
    public mutating func append(owner: Int64, members keys: some Collection<Int64>) {
        let start = members.count
        members += keys
        owners.append((owner, start..<members.count))
    }

    /// Adds a member of an owner. All members of an owner are added in sequence.
    public mutating func append(member key: Int64, of owner: Int64) {
        members.append(key)
        if let last = owners.last, last.key == owner {
            owners[owners.count - 1].members = last.members.lowerBound..<members.count
        } else {
            owners.append((owner, members.count - 1..<members.count))
        }
    }
}
