import EncryptedSQLite

/// The order in which a statement returns the keys of rows.
enum KeyOrder {
    /// Ascending, and greater than a key.
    case ascending(after: Int64)
    /// Descending, and less than a key.
    case descending(before: Int64)
    /// By other values, and by key where these are equal.
    case sorted
    /// Any order; keys may be repeated.
    case any
}

/// The keys of the rows that a statement returns, whose order is checked row by row.
///
/// SQLCipher authenticates each page by itself: an earlier version of a page in place of the present one is valid. Such
/// a page leads to rows twice, or to rows of another range. SQLite does not notice, and returns keys that do not ascend.
/// A walk that continues behind the last key would never end, and a range from the first to the last key would not
/// exist. Keys that are not in the order of the statement are therefore damage.
struct KeyWalk {
    private let order: KeyOrder
    private var last: Int64

    init(_ order: KeyOrder) {
        self.order = order
        last =
            switch order {
            case .ascending(let key), .descending(let key): key
            case .sorted, .any: 0
            }
    }

    /// Whether a key follows the previous one in the order of the statement.
    @inline(__always)
    mutating func admits(_ key: Int64) -> Bool {
        defer { last = key }
        return switch order {
        case .ascending: key > last
        case .descending: key < last
        case .sorted: key != last
        case .any: true
        }
    }

    /// Goes on to the key of the statement's current row.
    ///
    /// - Throws: `DatabaseError.damaged` if the key is not in the order of the statement.
    @inline(__always)
    mutating func visit(_ key: Int64, of statement: borrowing Statement) throws {
        guard admits(key) else { throw statement.damage() }
    }
}

/// The pairs of owners and members that a statement returns in the order of the owners, checked like the keys of a
/// ``KeyWalk``.
struct PairWalk {
    /// Whether the members of an owner are ordered by position, so that their keys need not ascend.
    private let hasPositions: Bool
    private var owner: Int64
    private var member = Int64.min

    /// - Parameter owner: The smallest key of an owner.
    init(from owner: Int64, hasPositions: Bool) {
        self.owner = owner
        self.hasPositions = hasPositions
    }

    /// Goes on to the pair of the statement's current row.
    ///
    /// - Throws: `DatabaseError.damaged` if the pair is not in the order of the statement.
    mutating func visit(_ owner: Int64, _ member: Int64, of statement: borrowing Statement) throws {
        let isInOrder =
            owner == self.owner ? (hasPositions ? member != self.member : member > self.member) : owner > self.owner
        guard isInOrder else { throw statement.damage() }
        self.owner = owner
        self.member = member
    }
}
