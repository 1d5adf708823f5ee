/// The functions of a predicate's text form, by their names in `NSExpression`.
enum FormatFunction: String, CaseIterable {
    case now
    case abs, ceiling, floor, trunc, sqrt
    case length, uppercase, lowercase
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case raise = "raise:toPower:"
    case count, sum, average, min, max
    // Not in Cocoa: the first argument that is not nil, texts folded as by the options of operators, and numbers in the
    // range of a smaller type.
    case coalesce
    case foldCase, foldDiacritics, foldCaseAndDiacritics
    case checkInt8, checkInt16, checkInt32, checkUInt8, checkUInt16, checkUInt32, roundToFloat
    /// A message to its first argument.
    case function = "FUNCTION"

    /// Functions of Cocoa that stores do not support.
    static let unsupported: Set<String> = [
        "median", "mode", "stddev", "ln", "log", "exp", "random", "randomn", "noindex",
        "distancetolocationfromlocation",
        "bitwiseandwith", "bitwiseorwith", "bitwisexorwith", "leftshiftby", "rightshiftby", "onescomplement", "union",
        "intersect", "minus", "objectfromwithindex", "uti-conforms-to", "canonical",
    ]

    /// The equivalent collection operators.
    static let collectionOperators: [FormatFunction: String] = [
        .count: "count", .sum: "sum", .average: "avg", .min: "min", .max: "max",
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// Returns the function of a name in any case. A single colon at its end can be omitted.
    init?(name: String) {
        let lowered = name.lowercased()
        let isPlain = lowered.last == ":" && !lowered.dropLast().contains(":")
        guard let function = Self.byName[isPlain ? String(lowered.dropLast()) : lowered] else { return nil }
        self = function
    }

    /// The possible numbers of arguments.
    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .abs, .ceiling, .floor, .trunc, .sqrt, .length, .uppercase, .lowercase: 1...1
        case .foldCase, .foldDiacritics, .foldCaseAndDiacritics: 1...1
        case .checkInt8, .checkInt16, .checkInt32, .checkUInt8, .checkUInt16, .checkUInt32, .roundToFloat: 1...1
        case .add, .subtract, .multiply, .divide, .modulus, .raise: 2...2
        case .count, .sum, .average, .min, .max, .coalesce: 1...Int.max
        case .function: 2...Int.max
        }
    }
}
