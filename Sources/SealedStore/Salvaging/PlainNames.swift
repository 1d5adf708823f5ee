/// Names of tables or columns that show their declarations, although the record of the names is lost.
///
/// A table or column has the declared name or, if another declaration had that name first, also a declaration of an
/// earlier version of the model, the declared name with one or several numbers, such as `name_2`. So a name belongs to
/// the declaration with that name, unless another declaration has the same name, without regard to case, or a name to
/// which the numbers can have been added.
struct PlainNames {
    /// The number of declarations with each name, folded.
    private var counts: [String: Int] = [:]

    /// - Parameter declared: The names that the declarations have without numbers.
    init(_ declared: some Sequence<String>) {
        for name in declared { counts[SQL.foldedName(name), default: 0] += 1 }
    }

    /// Whether a name belongs to the declaration with that name.
    func contain(_ name: String) -> Bool {
        var rest = SQL.foldedName(name)
        guard counts[rest] == 1 else { return false }
        while let stem = Self.withoutNumber(rest) {
            guard counts[stem] == nil else { return false }
            rest = stem
        }
        return true
    }

    /// A name without the number at its end; nil if it has no number.
    private static func withoutNumber(_ name: String) -> String? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let count = name.utf8.reversed().prefix { digits.contains($0) }.count
        let stem = name.utf8.dropLast(count)
        guard count > 0, stem.last == UInt8(ascii: "_") else { return nil }
        return String(decoding: stem.dropLast(), as: UTF8.self)
    }
}
