import Foundation
import Guarded

/// A cache of compiled regular expressions. Threads can match concurrently.
package enum RegularExpressions {
    /// ICU's expressions by the bytes of their patterns: canonically equivalent patterns are different expressions.
    private static let icu = Guarded(BoundedCache<[UInt8], NSRegularExpression>(limit: 64))
    /// Swift's expressions by the bytes of their patterns.
    private static let swift = Guarded(BoundedCache<[UInt8], RegexProgram>(limit: 64))

    /// The limit of ICU's progress reports, one for each 10,000 steps, before a match is aborted. Foundation itself
    /// aborts after about twice as many reports, and reports no match.
    private static let largestReportCount = 2_000

    /// Returns whether a whole text matches.
    ///
    /// - Throws: ``QueryError/malformedPattern``; ``QueryError/expensivePattern``.
    static func matches(_ text: String, _ pattern: String) throws(QueryError) -> Bool {
        let expression = try icu.value(for: Array(pattern.utf8)) { () throws(QueryError) in
            guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z") else {
                throw .malformedPattern
            }
            return expression
        }
        var (isMatched, isGivenUp, reportCount) = (false, false, 0)
        let range = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: range) {
            match,
            flags,
            stop in
            // A long text exceeds the size of ICU's stack, which is an internal error.
            if flags.contains(.internalError) { isGivenUp = true }
            if match != nil {
                isMatched = true
                stop.pointee = true
            } else if flags.contains(.progress) {
                reportCount += 1
                guard reportCount > largestReportCount else { return }
                isGivenUp = true
                stop.pointee = true
            }
        }
        if isGivenUp, !isMatched { throw .expensivePattern }
        return isMatched
    }

    /// Returns whether a part of a text matches.
    ///
    /// - Throws: ``QueryError/malformedPattern``; ``QueryError/expensivePattern``.
    static func contains(_ text: String, _ pattern: String) throws(QueryError) -> Bool {
        let program = try swift.value(for: Array(pattern.utf8)) { () throws(QueryError) in
            try RegexProgram(try tree(of: pattern))
        }
        var text = text
        let found = text.withUTF8 { bytes -> Result<Bool, QueryError>? in
            guard bytes.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) else { return nil }
            return Result { () throws(QueryError) -> Bool in
                var search = RegexSearch(program, in: ASCIIText(bytes: bytes))
                return try search.isMatched()
            }
        }
        if let found { return try found.get() }
        var search = RegexSearch(program, in: CharacterText(text, inScalars: program.matchesScalars))
        return try search.isMatched()
    }

    /// Returns the pattern of an expression in queries; nil if no pattern has the same meaning.
    package static func pattern(of regex: Regex<AnyRegexOutput>) -> String? {
        guard let tree = try? RegexTreeReader.tree(of: regex), (try? Self.tree(of: tree.pattern)) == tree,
            (try? RegexProgram(tree)) != nil
        else { return nil }
        return tree.pattern
    }

    private static func tree(of pattern: String) throws(QueryError) -> RegexTree {
        guard let regex = try? Regex(pattern), let tree = try? RegexTreeReader.tree(of: regex) else {
            throw .malformedPattern
        }
        return tree
    }
}
