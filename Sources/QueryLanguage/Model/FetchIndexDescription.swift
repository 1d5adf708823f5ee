/// The declaration of an index: the properties over which a store builds it, in order.
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

    /// Creates a declaration.
    public init(_ properties: [String], kind: Kind = .binary) {
        self.properties = properties
        self.kind = kind
    }
}

/// The options of a full-text index.
public struct FullTextOptions: Hashable, Sendable {
    /// The tokenizer of the texts.
    public var tokenizer: FullTextTokenizer
    /// The lengths in characters of the prefixes that are indexed, which makes searches for prefixes of these lengths
    /// faster. Each makes the index larger.
    public var prefixLengths: [Int]

    /// Creates options.
    public init(tokenizer: FullTextTokenizer = .unicode61, prefixLengths: [Int] = []) {
        self.tokenizer = tokenizer
        self.prefixLengths = prefixLengths
    }
}

/// A tokenizer of a full-text index, by SQLite's name. All tokenizers ignore case and diacritics.
public enum FullTextTokenizer: String, Codable, CaseIterable, Sendable {
    /// Words: sequences of letters and digits.
    case unicode61
    /// Words without English suffixes: `connection` finds `connected`.
    case porter
    /// Every sequence of three characters, which finds parts of words, and texts in languages without spaces between
    /// words. A search term has at least three characters. Requires SQLCipher 4.6 or newer.
    case trigram
}

extension FetchIndexDescription: Codable {
    private enum CodingKeys: String, CodingKey {
        case properties, kind, tokenizer, prefixLengths
    }

    private enum KindName: String, Codable {
        case binary, rtree, fullText
    }

    /// Decodes the form that ``encode(to:)`` writes.
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

    /// Encodes the kind by its name, with the options beside it.
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
