import Foundation
import ObjectGraph

/// A full-text query in FTS5's syntax. Every text becomes a quoted string, so that nothing in it is syntax.
struct FullTextExpression {
    /// The expression; nil if the query has only ``shortWords``.
    private(set) var match: String?
    /// Words that are too short for an index of trigrams, with the positions of the searched columns.
    private(set) var shortWords: [ShortWord] = []

    struct ShortWord: Hashable {
        let text: String
        let columns: [Int]
    }

    private let index: FullTextIndex
    private let entity: Entity

    /// A string without words, which matches nothing.
    private static let nothing = #""""#

    /// - Parameter columns: The positions of the searched columns.
    /// - Throws: ``SealedStoreError/unsupportedQuery(_:)`` for short words in an alternative.
    init(_ query: FullTextQuery, in columns: [Int], of index: FullTextIndex, entity: Entity) throws {
        self.index = index
        self.entity = entity
        let parts = try conjuncts(of: query, in: columns)
        match = parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    // MARK: Conjunctions

    /// Splits a conjunction of queries. Its short words can be searched without the index.
    private mutating func conjuncts(of query: FullTextQuery, in columns: [Int]) throws -> [String] {
        switch query {
        case .all(let queries) where !queries.isEmpty:
            return try queries.flatMap { try conjuncts(of: $0, in: columns) }
        case .within(let names, let query):
            return try conjuncts(of: query, in: narrowed(columns, to: names))
        case .words(let text), .phrase(let text), .prefix(let text):
            let parts = parts(of: query, text)
            guard !parts.isEmpty else { return [Self.nothing] }
            shortWords += parts.filter(isShort).map { ShortWord(text: $0, columns: columns) }
            return parts.filter { !isShort($0) }.map { confined(string($0, of: query), to: columns) }
        case .all, .any, .difference:
            return [try expression(query, in: columns)]
        }
    }

    private func expression(_ query: FullTextQuery, in columns: [Int]) throws -> String {
        switch query {
        case .all(let queries): return try combined(queries, "AND", in: columns)
        case .any(let queries): return try combined(queries, "OR", in: columns)
        case .difference(let query, let excluded):
            return "(\(try expression(query, in: columns)) NOT \(try expression(excluded, in: columns)))"
        case .within(let names, let query): return try expression(query, in: narrowed(columns, to: names))
        case .words(let text), .phrase(let text), .prefix(let text):
            let parts = parts(of: query, text)
            guard !parts.isEmpty else { return Self.nothing }
            guard !parts.contains(where: isShort) else {
                throw SealedStoreError.unsupportedQuery(
                    "a word of less than \(FoldableText.shortestPart) characters in an alternative of a search of trigrams"
                )
            }
            return "(\(parts.map { confined(string($0, of: query), to: columns) }.joined(separator: " AND ")))"
        }
    }

    private func combined(_ queries: [FullTextQuery], _ word: String, in columns: [Int]) throws -> String {
        guard !queries.isEmpty else { return Self.nothing }
        return "(\(try queries.map { try expression($0, in: columns) }.joined(separator: " \(word) ")))"
    }

    // MARK: Columns

    private func narrowed(_ columns: [Int], to names: [String]) throws -> [Int] {
        let positions = try names.map { name in
            guard let property = entity.propertiesByName[name], let position = index.position(of: property) else {
                throw FullTextError.noIndex(entity: entity.name, properties: [name])
            }
            return position
        }
        return columns.filter(positions.contains)
    }

    private func confined(_ expression: String, to columns: [Int]) -> String {
        guard columns.count < index.indexed.columns.count else { return expression }
        // FTS5 has no form for "in no column".
        guard !columns.isEmpty else { return Self.nothing }
        return "{\(columns.map(FullTextIndex.column).joined(separator: " "))} : \(expression)"
    }

    // MARK: Words

    /// The separately searched parts of a text; empty if it has no words.
    private func parts(of query: FullTextQuery, _ text: String) -> [String] {
        let parts: [String] =
            if case .words = query { text.split(whereSeparator: \.isWhitespace).map(String.init) } else { [text] }
        return parts.map(SQL.withoutNulls).filter(hasTokens)
    }

    /// Whether the tokenizer finds tokens in a text.
    private func hasTokens(_ text: String) -> Bool {
        switch index.options.tokenizer {
        case .trigram: !text.isEmpty
        case .unicode61, .porter:
            text.unicodeScalars.contains { scalar in
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
                    .decimalNumber, .letterNumber, .otherNumber, .privateUse:
                    true
                default: false
                }
            }
        }
    }

    private func isShort(_ text: String) -> Bool {
        index.options.tokenizer == .trigram && text.unicodeScalars.count < FoldableText.shortestPart
    }

    private func string(_ text: String, of query: FullTextQuery) -> String {
        // FTS5 quotes strings as SQL quotes identifiers.
        let string = SQL.quoted(text)
        if case .prefix = query { return string + " *" }
        return string
    }
}
