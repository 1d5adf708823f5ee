/// What a program declares about an index: the properties over which a store builds it, in order.
public struct FetchIndexDescription: Hashable, Sendable {
    /// The kinds of index.
    public enum Kind: Hashable, Sendable {
        /// A B-tree, for equality, ranges and sorting.
        case binary
        /// An R-tree, for ranges over one to five numeric attributes at once.
        case rtree
        /// A full-text index, for searching texts by their words.
        case fullText(FullTextOptions)
    }

    /// The names of the properties.
    public var properties: [String]
    /// The kind of index.
    public var kind: Kind

    /// Makes a declaration.
    public init(_ properties: [String], kind: Kind = .binary) {
        self.properties = properties
        self.kind = kind
    }
}

/// How a full-text index takes texts apart.
public struct FullTextOptions: Hashable, Sendable {
    /// What a text is taken apart into.
    public var tokenizer: FullTextTokenizer
    /// The numbers of characters for which words are indexed by their beginnings, which makes searching for beginnings of
    /// that length faster. Each makes the index larger.
    public var prefixLengths: [Int]

    /// Makes options.
    public init(tokenizer: FullTextTokenizer = .unicode61, prefixLengths: [Int] = []) {
        self.tokenizer = tokenizer
        self.prefixLengths = prefixLengths
    }
}

/// What a full-text index takes texts apart into. All of them take upper and lower case, and letters with and without
/// diacritics, as equal. The names are SQLite's.
public enum FullTextTokenizer: String, Codable, CaseIterable, Sendable {
    /// Words: letters and digits between everything else.
    case unicode61
    /// Words without their English endings: `connected` is found by `connection`.
    case porter
    /// Any three characters that follow each other, so that parts of words are found, and texts in languages that write
    /// no blanks between words. What is searched for has three characters or more. It needs SQLCipher 4.6 or newer.
    case trigram
}

extension FetchIndexDescription: Codable {
    private enum CodingKeys: String, CodingKey {
        case properties, kind, tokenizer, prefixLengths
    }

    private enum KindName: String, Codable {
        case binary, rtree, fullText
    }

    /// Reads what ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        properties = try container.decode([String].self, forKey: .properties)
        switch try container.decode(KindName.self, forKey: .kind) {
        case .binary: kind = .binary
        case .rtree: kind = .rtree
        case .fullText:
            kind = .fullText(
                FullTextOptions(
                    tokenizer: try container.decode(FullTextTokenizer.self, forKey: .tokenizer),
                    prefixLengths: try container.decode([Int].self, forKey: .prefixLengths)
                )
            )
        }
    }

    /// Writes the kind by its name, with the options beside it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(properties, forKey: .properties)
        switch kind {
        case .binary: try container.encode(KindName.binary, forKey: .kind)
        case .rtree: try container.encode(KindName.rtree, forKey: .kind)
        case .fullText(let options):
            try container.encode(KindName.fullText, forKey: .kind)
            try container.encode(options.tokenizer, forKey: .tokenizer)
            try container.encode(options.prefixLengths, forKey: .prefixLengths)
        }
    }
}
