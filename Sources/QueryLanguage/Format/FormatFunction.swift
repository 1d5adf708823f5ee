/// The functions of a predicate's text form, by their names in `NSExpression`.
enum FormatFunction: Hashable {
    case now
    /// A function of a store with one argument, see ``QueryExpression/Function/notation``.
    case call(QueryExpression.Function)
    case arithmetic(QueryExpression.Arithmetic)
    case power
    /// An aggregate of the members of a collection, or of a list.
    case aggregate(QueryExpression.Aggregate)
    /// The first argument that is not nil. Cocoa does not have it.
    case coalesce
    /// A message to its first argument.
    case message

    /// Functions of Cocoa that stores do not support.
    static let unsupported: Set<String> = [
        "median", "mode", "stddev", "ln", "log", "exp", "random", "randomn", "noindex",
        "distancetolocationfromlocation",
        "bitwiseandwith", "bitwiseorwith", "bitwisexorwith", "leftshiftby", "rightshiftby", "onescomplement", "union",
        "intersect", "minus", "objectfromwithindex", "uti-conforms-to", "canonical",
    ]

    /// All functions with their names. Those of ``QueryExpression/Function`` come from its notation.
    static let all: [(name: String, function: FormatFunction)] =
        QueryExpression.Function.allCases.compactMap { function in
            if case .call(let name, _) = function.notation { (name, .call(function)) } else { nil }
        } + [
            ("now", .now), ("add:to:", .arithmetic(.add)), ("from:subtract:", .arithmetic(.subtract)),
            ("multiply:by:", .arithmetic(.multiply)), ("divide:by:", .arithmetic(.divide)),
            ("modulus:by:", .arithmetic(.remainder)), ("raise:toPower:", .power), ("count", .aggregate(.count)),
            ("sum", .aggregate(.sum)), ("average", .aggregate(.average)), ("min", .aggregate(.minimum)),
            ("max", .aggregate(.maximum)), ("coalesce", .coalesce), ("FUNCTION", .message),
        ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name.lowercased(), $0.function) })
    private static let names = Dictionary(uniqueKeysWithValues: all.map { ($0.function, $0.name) })

    /// Returns the function of a name in any case. A single colon at its end can be omitted.
    init?(name: String) {
        let lowered = name.lowercased()
        let isPlain = lowered.last == ":" && !lowered.dropLast().contains(":")
        guard let function = Self.byName[isPlain ? String(lowered.dropLast()) : lowered] else { return nil }
        self = function
    }

    /// The name, which errors contain.
    var name: String { Self.names[self] ?? "" }

    /// The possible numbers of arguments.
    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .call: 1...1
        case .arithmetic, .power: 2...2
        case .aggregate, .coalesce: 1...Int.max
        case .message: 2...Int.max
        }
    }
}

extension QueryExpression.Aggregate {
    /// The name of the collection operator.
    var collectionOperator: String {
        switch self {
        case .count: "count"
        case .distinctCount: "distinctUnionOfObjects"
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        }
    }
}
