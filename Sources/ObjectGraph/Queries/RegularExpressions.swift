import Foundation
import Guarded

/// Regular expressions, made once for each pattern that was used lately.
enum RegularExpressions {
    private static let limit = 64

    /// Expressions of ICU.
    private static let icu = Guarded<[String: NSRegularExpression]>([:])
    /// Swift's own, which one thread at a time uses.
    private static let swift = Guarded<[String: Regex<AnyRegexOutput>]>([:])

    /// Whether a whole text is matched.
    ///
    /// - Throws: ``QueryError/malformedPattern``.
    static func matches(_ text: String, _ pattern: String) throws(QueryError) -> Bool {
        let icuExpression = try icu.withLock { (cache) throws(QueryError) -> NSRegularExpression in
            try Self.expression(for: pattern, in: &cache) { try NSRegularExpression(pattern: "\\A(?:\($0))\\z") }
        }
        let range = NSRange(location: 0, length: text.utf16.count)
        return icuExpression.firstMatch(in: text, options: [], range: range) != nil
    }

    /// Whether a part of a text is matched.
    ///
    /// - Throws: ``QueryError/malformedPattern``.
    static func contains(_ text: String, _ pattern: String) throws(QueryError) -> Bool {
        try swift.withLock { (cache) throws(QueryError) -> Bool in
            let regex = try Self.expression(for: pattern, in: &cache) { try Regex($0) }
            do {
                return try regex.firstMatch(in: text) != nil
            } catch {
                throw .malformedPattern
            }
        }
    }

    private static func expression<T>(
        for pattern: String,
        in cache: inout [String: T],
        make: (String) throws -> T
    ) throws(QueryError) -> T {
        if let expression = cache[pattern] { return expression }
        do {
            let expression = try make(pattern)
            if cache.count >= limit { cache.removeAll() }
            cache[pattern] = expression
            return expression
        } catch {
            throw .malformedPattern
        }
    }
}
