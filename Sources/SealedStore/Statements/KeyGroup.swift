import EncryptedSQLite

/// Primary keys in the parameters of one statement.
///
/// Neighbouring keys are a range. Other keys are a list of one of a few lengths, so that few statements fill the
/// statement cache; a list is padded with its last key. A very long list is one parameter.
struct KeyGroup {
    /// The keys, ascending.
    let keys: ArraySlice<Int64>
    /// The form of the parameters.
    let form: Form

    enum Form: Hashable {
        /// A list with this number of parameters.
        case list(Int)
        /// The first and the last key.
        case range
        /// A JSON array in one parameter.
        case array

        /// The number of parameters for the keys.
        var parameterCount: Int {
            switch self {
            case .list(let count): count
            case .range: 2
            case .array: 1
            }
        }

        /// The SQL condition that a column has one of the keys. Its parameters are the first of the statement.
        func condition(_ column: String) -> String {
            switch self {
            case .list(let count): "\(column) IN (\(SQL.parameters(count)))"
            case .range: "\(column) BETWEEN ? AND ?"
            case .array: "\(column) IN (SELECT value FROM json_each(?))"
            }
        }
    }

    /// The numbers at which one form of a group becomes cheaper than another.
    struct Thresholds {
        /// The smallest number of neighbouring keys that become a range.
        let smallestRange: Int
        /// The lengths of lists, ascending.
        let listLengths: [Int]
        /// The number of keys outside ranges above which they become an array.
        let largestList: Int

        /// For statements that read. Parsing an array costs less than several statements.
        static let reading = Thresholds(smallestRange: 64, listLengths: [1, 16, 128, 512], largestList: 1024)
        /// For statements that write. Writing a row costs more than the parameter for its key.
        static let writing = Thresholds(smallestRange: 8, listLengths: [1, 64], largestList: .max)
    }

    /// Divides keys into as few groups as possible.
    ///
    /// - Parameter keys: The keys, ascending.
    static func groups(of keys: [Int64], _ thresholds: Thresholds) -> [KeyGroup] {
        var groups: [KeyGroup] = []
        var scattered: [Int64] = []
        var start = 0
        while start < keys.count {
            var end = start + 1
            while end < keys.count, keys[end] &- keys[end - 1] == 1 { end += 1 }
            if end - start >= thresholds.smallestRange {
                groups.append(KeyGroup(keys: keys[start..<end], form: .range))
            } else {
                scattered += keys[start..<end]
            }
            start = end
        }
        return groups + lists(of: scattered, thresholds)
    }

    private static func lists(of keys: [Int64], _ thresholds: Thresholds) -> [KeyGroup] {
        if keys.count > thresholds.largestList { return [KeyGroup(keys: keys[...], form: .array)] }
        let largest = thresholds.listLengths.last ?? 1
        return stride(from: 0, to: keys.count, by: largest).map { start in
            let slice = keys[start..<min(start + largest, keys.count)]
            let length = thresholds.listLengths.first { $0 >= slice.count } ?? largest
            return KeyGroup(keys: slice, form: .list(length))
        }
    }

    /// The SQL condition that a column has one of the keys.
    func condition(_ column: String) -> String { form.condition(column) }

    /// The order of the rows that a statement sorts by their keys.
    var order: KeyOrder { .ascending(after: max(keys.first ?? 1, 1) - 1) }

    /// Binds the keys to the first parameters of a statement.
    func bind(to statement: borrowing Statement) throws {
        switch form {
        case .array:
            try statement.bind(text: "[\(keys.lazy.map(String.init).joined(separator: ","))]", at: 1)
        case .range:
            try statement.bind(keys.first ?? 0, at: 1)
            try statement.bind(keys.last ?? 0, at: 2)
        case .list(let count):
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
