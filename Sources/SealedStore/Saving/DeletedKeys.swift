import EncryptedSQLite
import ObjectGraph

/// Keys of rows of one entity and version that one statement deletes.
struct DeletedKeys {
    let entity: Entity
    /// The version that was read; nil for whichever it is.
    let version: UInt32?
    /// The keys, ascending.
    let keys: ArraySlice<Int64>
    /// How the statement names the keys.
    let form: Form

    /// How a statement names the keys of the rows that it deletes.
    enum Form: Hashable {
        /// One by one.
        case list(Int)
        /// The first and the last one; all between them are deleted as well.
        case range

        /// How many parameters stand for the keys.
        var parameterCount: Int {
            switch self {
            case .list(let count): count
            case .range: 2
            }
        }
    }

    /// The number of neighbouring keys from which on they are a range.
    private static let smallestRange = 8
    /// How many keys a list names, if it does not name one.
    private static let listCount = 64

    /// Puts the keys of deleted rows into as few groups as possible. They may come in any order; what is deleted together
    /// has mostly been made together, and has keys that follow each other.
    static func groups(of deletions: [SaveChangesRequest.Deletion]) -> [DeletedKeys] {
        var keys: [Kind: [Int64]] = [:]
        var kinds: [Kind] = []
        var last: (kind: Kind, keys: [Int64])?
        func put(_ part: (kind: Kind, keys: [Int64])) {
            if keys[part.kind] == nil { kinds.append(part.kind) }
            keys[part.kind, default: []] += part.keys
        }
        // In their place: to take each one out would cost as much as the rest.
        deletions.withUnsafeBufferPointer { deletions in
            for position in deletions.indices {
                let key = deletions[position].key
                let version = deletions[position].row?.version
                if let kind = last?.kind, kind.version == version, kind.entity === deletions[position].entity {
                    last?.keys.append(key)
                } else {
                    if let last { put(last) }
                    last = (Kind(entity: deletions[position].entity, version: version), [key])
                }
            }
        }
        if let last { put(last) }
        return kinds.flatMap { groups(of: $0, keys[$0]?.sorted() ?? []) }
    }

    private struct Kind: Hashable {
        let entity: Entity
        let version: UInt32?
    }

    /// - Parameter keys: All keys of the kind, ascending.
    private static func groups(of kind: Kind, _ keys: [Int64]) -> [DeletedKeys] {
        var groups: [DeletedKeys] = []
        func add(_ keys: ArraySlice<Int64>, _ form: Form) {
            groups.append(DeletedKeys(entity: kind.entity, version: kind.version, keys: keys, form: form))
        }
        var scattered: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[end] &- keys[end - 1] == 1 { end += 1 }
            if end - start >= smallestRange { add(keys[start..<end], .range) } else { scattered += keys[start..<end] }
            start = end
        }
        var rest = scattered[...]
        while rest.count >= listCount {
            add(rest.prefix(listCount), .list(listCount))
            rest = rest.dropFirst(listCount)
        }
        for position in rest.indices { add(rest[position...position], .list(1)) }
        return groups
    }

    /// From how many rows on it pays to ask whether they are all that a table has.
    private static let smallestTable = 1024

    /// From the first to the last key of groups that might be all rows of a table, going by the keys alone: there are many
    /// of them, none twice, and not as many between them. Else nil.
    static func wholeRange(of groups: [DeletedKeys]) -> ClosedRange<Int64>? {
        guard groups.allSatisfy({ $0.form == .range }) else { return nil }
        let groups = groups.sorted { ($0.keys.first ?? 0) < ($1.keys.first ?? 0) }
        let count = groups.reduce(0) { $0 + $1.keys.count }
        guard count >= smallestTable, let first = groups.first?.keys.first, let last = groups.last?.keys.last else {
            return nil
        }
        for (group, next) in zip(groups, groups.dropFirst()) {
            guard let end = group.keys.last, let start = next.keys.first, end < start else { return nil }
        }
        let (distance, isTooLong) = last.subtractingReportingOverflow(first)
        return !isTooLong && distance < 2 * count ? first...last : nil
    }

    /// Binds the keys to the first parameters of a statement, and the version to the next one.
    func bindWithVersion(to statement: borrowing Statement) throws {
        try bind(to: statement)
        if let version { try statement.bind(Int64(version), at: Int32(form.parameterCount + 1)) }
    }

    /// Binds the keys to the first parameters of a statement.
    func bind(to statement: borrowing Statement) throws {
        switch form {
        case .range:
            try statement.bind(keys.first ?? 0, at: 1)
            try statement.bind(keys.last ?? 0, at: 2)
        case .list:
            var index: Int32 = 1
            for key in keys {
                try statement.bind(key, at: index)
                index += 1
            }
        }
    }
}
