/// A token of the text form of predicates.
struct FormatToken {
    let kind: Kind
    let range: Range<String.Index>

    enum Kind: Hashable, Sendable {
        /// A name. A name that is written as `#name` is never a keyword.
        case name(String)
        /// A reserved word, in any case.
        case keyword(FormatKeyword)
        /// The name of a function with its colons, such as `add:to:`.
        case selector(String)
        /// A name after `@`, such as `@count`.
        case collectionOperator(String)
        /// A name after `$`.
        case variable(String)
        /// A text literal without its quotes.
        case text(String)
        case number(FormatNumber)
        case placeholder(FormatPlaceholder)
        case symbol(FormatSymbol)
        case end
    }
}

/// The reserved words. A property with such a name is written with `#`.
enum FormatKeyword: String, CaseIterable {
    case and, or, not
    case any, some, all, none
    case `in`, between, contains, beginswith, endswith, like, matches
    case null, `nil`, `self`, `true`, yes, `false`, no
    case truepredicate, falsepredicate

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
    private static let longest = allCases.map(\.rawValue.utf8.count).max() ?? 0

    /// Returns the keyword of a text in any case; nil for other texts.
    init?(text: String) {
        guard text.utf8.count <= Self.longest, let keyword = Self.byName[text.lowercased()] else { return nil }
        self = keyword
    }
}

/// A token of other characters than letters and digits.
enum FormatSymbol: String {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%%"
    case power = "**"
    case comma = ","
    case dot = "."
    case openParenthesis = "("
    case closeParenthesis = ")"
    case openBrace = "{"
    case closeBrace = "}"
    case openBracket = "["
    case closeBracket = "]"
}

/// A number literal.
enum FormatNumber: Hashable {
    case integer(Int64)
    /// An integer greater than `Int64.max`.
    case unsigned(UInt64)
    /// The digits of any other number, in the form that `Double` and `Decimal` read.
    case digits(String)
}

/// A placeholder for an argument.
struct FormatPlaceholder: Hashable, Sendable {
    /// The specifier without the position, such as `%@`.
    let specifier: String
    let kind: Kind
    /// The argument's position, from 0.
    let position: Int

    enum Kind: Hashable, Sendable {
        /// `%@`: any value.
        case value
        /// `%K`: names of properties.
        case keyPath
        /// `%d` and the other specifiers for integers.
        case integer
        /// `%f` and the other specifiers for reals.
        case real
        /// `%s`.
        case text
    }
}
