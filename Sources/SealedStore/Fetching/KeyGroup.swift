import EncryptedSQLite

/// Keys that one statement is asked about. There are statements for few different numbers of keys, so that they stay in
/// the cache; the last key is repeated where there are fewer. Keys that follow each other are a range, and very many others
/// are one parameter, as a list.
struct KeyGroup {
    private static let sizes = [1, 16, 128, 512]
    /// Beyond this number, taking a list apart costs less than further statements.
    private static let listThreshold = 1024
    /// The number of neighbouring keys from which on they are a range.
    private static let smallestRange = 64

    let keys: ArraySlice<Int64>
    private let form: Form

    private enum Form {
        /// As many parameters.
        case parameters(Int)
        case range
        case list
    }

    /// - Parameter keys: The keys, ascending.
    static func groups(of keys: [Int64]) -> [KeyGroup] {
        var groups: [KeyGroup] = []
        var scattered: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[end] &- keys[end - 1] == 1 { end += 1 }
            if end - start >= smallestRange {
                groups.append(KeyGroup(keys: keys[start..<end], form: .range))
            } else {
                scattered += keys[start..<end]
            }
            start = end
        }
        return groups + Self.groups(ofScattered: scattered)
    }

    private static func groups(ofScattered keys: [Int64]) -> [KeyGroup] {
        if keys.count > listThreshold { return [KeyGroup(keys: keys[...], form: .list)] }
        let largest = sizes.last!
        return stride(from: 0, to: keys.count, by: largest).map { start in
            let slice = keys[start..<min(start + largest, keys.count)]
            return KeyGroup(keys: slice, form: .parameters(sizes.first { $0 >= slice.count } ?? largest))
        }
    }

    /// The condition that a column holds one of the keys, in SQL.
    func condition(_ column: String) -> String {
        switch form {
        case .parameters(let count): "\(column) IN (\(SQL.parameters(count)))"
        case .range: "\(column) BETWEEN ? AND ?"
        case .list: "\(column) IN (SELECT value FROM json_each(?))"
        }
    }

    func bind(to statement: borrowing Statement) throws {
        switch form {
        case .list:
            try statement.bind(text: "[\(keys.lazy.map(String.init).joined(separator: ","))]", at: 1)
        case .range:
            try statement.bind(keys.first ?? 0, at: 1)
            try statement.bind(keys.last ?? 0, at: 2)
        case .parameters(let count):
            var index: Int32 = 1
            for key in keys {
                try statement.bind(key, at: index)
                index += 1
            }
            let last = keys.last ?? 0
            while index <= count {
                try statement.bind(last, at: index)
                index += 1
            }
        }
    }
}
