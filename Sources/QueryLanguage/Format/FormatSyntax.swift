/// A node of the syntax tree of a predicate's text form, before names are looked up and values are typed.
///
/// The tree does not distinguish conditions and values; the ``FormatReader``, which knows the types, does.
struct FormatSyntax: Sendable {
    let kind: Kind
    let range: Range<String.Index>
    /// The height of the tree.
    let height: Int

    init(_ kind: Kind, _ range: Range<String.Index>) {
        self.kind = kind
        self.range = range
        height = 1 + (kind.children.map(\.height).max() ?? 0)
    }

    indirect enum Kind: Sendable {
        case constant(PredicateArgument)
        case argument(FormatPlaceholder)
        /// `$NAME`: a variable of a SUBQUERY, or a variable with a given value.
        case variable(String)
        /// A key path from an expression; nil for the object of the predicate.
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

    /// A step of a key path.
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

/// A comparison operator with its options.
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

    /// The options of a comparison of texts.
    struct Options: OptionSet, Sendable {
        let rawValue: Int

        /// `[c]`: ignores case.
        static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: ignores diacritics.
        static let diacriticInsensitive = Options(rawValue: 2)
        /// `[l]`: follows the current locale.
        static let localeSensitive = Options(rawValue: 4)
    }
}

/// The number of members for which a comparison holds.
enum FormatQuantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}
