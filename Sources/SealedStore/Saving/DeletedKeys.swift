import EncryptedSQLite
import ObjectGraph

/// Keys of rows of one entity and version that one statement deletes.
struct DeletedKeys {
    let entity: Entity
    /// The version that the rows were read at; nil for any version.
    let version: UInt32?
    let group: KeyGroup

    var keys: ArraySlice<Int64> { group.keys }
    var form: KeyGroup.Form { group.form }

    /// Divides the keys of deleted rows, in any order, into as few groups as possible. Objects that are deleted
    /// together were mostly inserted together, and have neighbouring keys.
    static func groups(of deletions: [SaveChangesRequest.Deletion]) -> [DeletedKeys] {
        if deletions.isEmpty { return [] }
        var keys: [Kind: [Int64]] = [:]
        var kinds: [Kind] = []
        func append(
            _ keys: inout [Int64],
            of deletions: UnsafeBufferPointer<SaveChangesRequest.Deletion>,
            _ range: Range<Int>
        ) {
            for position in range { keys.append(deletions[position].key) }
        }
        // The deletions are sorted in place: a copy of each deletion would cost as much as the rest.
        deletions.withUnsafeBufferPointer { deletions in
            var start = 0
            while start < deletions.count {
                let kind = Kind(entity: deletions[start].entity, version: deletions[start].row?.version)
                var end = start + 1
                while end < deletions.count, deletions[end].entity === kind.entity,
                    deletions[end].row?.version == kind.version
                {
                    end += 1
                }
                if keys[kind] == nil { kinds.append(kind) }
                append(&keys[kind, default: []], of: deletions, start..<end)
                start = end
            }
        }
        return kinds.flatMap { kind in
            KeyGroup.groups(of: keys[kind]?.sorted() ?? [], .writing).map {
                DeletedKeys(entity: kind.entity, version: kind.version, group: $0)
            }
        }
    }

    private struct Kind: Hashable {
        let entity: Entity
        let version: UInt32?
    }

    /// The smallest number of rows for which a query whether they are the whole table costs less than it saves.
    private static let smallestTable = 1024

    /// The range of the keys of groups that may be all rows of a table: many keys, each once, and at most as many other
    /// keys between them. Otherwise nil.
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
    func bind(to statement: borrowing Statement) throws { try group.bind(to: statement) }
}
