/// Names of entities and properties that are made from the names of tables and columns.
struct PropertyNames {
    private var taken: Set<String> = []
    /// The first number that may be free behind a name that is taken.
    private var numbers: [String: Int] = [:]

    /// The number of names.
    var count: Int { taken.count }

    /// A name of letters, digits and underscores that begins with a letter, and differs from all names before, without
    /// regard to case.
    mutating func add(_ name: String) -> String {
        var legal = String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        if legal.first.map({ !$0.isLetter }) ?? true { legal = "x" + legal }
        let folded = legal.lowercased()
        if taken.insert(folded).inserted { return legal }
        var number = numbers[folded] ?? 2
        while !taken.insert("\(folded)\(number)").inserted { number += 1 }
        numbers[folded] = number + 1
        return "\(legal)\(number)"
    }

    /// The name of a relationship for a column with a foreign key: `author` for `author_id`, `authorId` and `authorID`.
    static func relationship(ofColumn column: String) -> String {
        for suffix in ["_id", "_ID", "Id", "ID", "_fk"] where column.hasSuffix(suffix) && column.count > suffix.count {
            return String(column.dropLast(suffix.count))
        }
        return column
    }

    /// A name with a small letter at its beginning.
    static func lowerFirst(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}
