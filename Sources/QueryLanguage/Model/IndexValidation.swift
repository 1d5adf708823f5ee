/// The check of an entity's indexes against the indexed attributes.
package struct IndexValidation {
    /// The problems, each with the name of its property; nil for a problem of the index.
    package private(set) var problems: [(property: String?, text: String)] = []

    /// The limit of SQLite's R*Tree.
    private static let mostDimensions = 5
    /// The limits of SQLite's FTS5.
    private static let mostPrefixLengths = 31
    private static let longestPrefix = 999

    /// - Parameter attributes: The entity's attributes by name, including inherited ones.
    package init(_ index: FetchIndexDescription, attributes: [String: AttributeDescription]) {
        switch index.kind {
        case .binary: break
        case .rtree:
            if index.properties.count > Self.mostDimensions {
                problems.append((nil, "an R-tree is built over at most \(Self.mostDimensions) attributes"))
            }
            for name in index.properties where !(attributes[name]?.type.isCoordinate ?? false) {
                problems.append((name, "an R-tree names it, but it is no number or date"))
            }
        case .fullText(let options):
            for name in index.properties where attributes[name]?.type != .string {
                problems.append((name, "a full-text index names it, but it is no text"))
            }
            check(options)
        }
    }

    private mutating func check(_ options: FullTextOptions) {
        let lengths = options.prefixLengths
        if lengths.contains(where: { !(1...Self.longestPrefix).contains($0) }) {
            problems.append((nil, "the prefix lengths of a full-text index go from 1 to \(Self.longestPrefix)"))
        }
        if Set(lengths).count != lengths.count || lengths.count > Self.mostPrefixLengths {
            problems.append((nil, "a full-text index has at most \(Self.mostPrefixLengths) different prefix lengths"))
        }
        if options.tokenizer == .trigram, !lengths.isEmpty {
            problems.append((nil, "a full-text index of trigrams has no prefix lengths"))
        }
    }
}
