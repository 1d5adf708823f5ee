/// A node of the syntax tree of a predicate's text form, before names are looked up and values are typed.
///
/// Conditions and values are of one kind here: whether one stands where the other belongs is told by the
/// ``FormatReader``, which knows the types.
struct FormatSyntax: Sendable {
    let kind: Kind
    let range: Range<String.Index>
    /// The number of nodes on the longest way down.
    let height: Int

    init(_ kind: Kind, _ range: Range<String.Index>) {
        self.kind = kind
        self.range = range
        height = 1 + (kind.children.map(\.height).max() ?? 0)
    }

    indirect enum Kind: Sendable {
        case constant(PredicateArgument)
        case argument(FormatPlaceholder)
        /// `$NAME`: a variable of a SUBQUERY, or a value that is given for the name.
        case variable(String)
        /// Properties of an object, or of the results of an expression; nil for the object that the predicate is about.
        case path(FormatSyntax?, [Step])
        case list([FormatSyntax])
        case negative(FormatSyntax)
        case arithmetic(QueryExpression.Arithmetic, FormatSyntax, FormatSyntax)
        case power(FormatSyntax, FormatSyntax)
        case comparison(FormatOperator, FormatSyntax, FormatSyntax)
        case and([FormatSyntax])
        case or([FormatSyntax])
        case not(FormatSyntax)
        case quantified(FormatQuantifier, FormatSyntax)
        case call(String, [FormatSyntax])
        case subquery(FormatSyntax, variable: String, FormatSyntax)
        case cast(FormatSyntax, to: FormatSyntax)
        case conditional(FormatSyntax, FormatSyntax, FormatSyntax)

        fileprivate var children: [FormatSyntax] {
            switch self {
            case .constant, .argument, .variable: []
            case .path(let base, _): [base].compactMap(\.self)
            case .negative(let part), .not(let part), .quantified(_, let part): [part]
            case .arithmetic(_, let left, let right), .power(let left, let right), .comparison(_, let left, let right),
                .subquery(let left, _, let right), .cast(let left, let right):
                [left, right]
            case .list(let parts), .and(let parts), .or(let parts), .call(_, let parts): parts
            case .conditional(let test, let first, let second): [test, first, second]
            }
        }
    }

    /// A part of a key path.
    struct Step: Sendable {
        let kind: Kind
        let range: Range<String.Index>

        enum Kind: Sendable {
            case name(String)
            /// A collection operator, without its `@`.
            case collectionOperator(String)
            /// `%K`.
            case argument(FormatPlaceholder)
        }
    }
}

/// An operator that compares, with its options.
struct FormatOperator: Sendable {
    let kind: Kind
    let options: Options
    let range: Range<String.Index>

    enum Kind: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case membership = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
    }

    /// What a comparison of texts does not look at.
    struct Options: OptionSet, Sendable {
        let rawValue: Int

        /// `[c]`
        static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        static let diacriticInsensitive = Options(rawValue: 2)
        /// `[l]`: as people of the current locale expect it.
        static let localeSensitive = Options(rawValue: 4)
    }
}

/// How many members have to fulfil a comparison.
enum FormatQuantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}
