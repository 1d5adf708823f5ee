extension QueryExpression.Function {
    /// The notation of a function in predicate formats, which the reader and the writer share.
    enum Notation {
        /// A call with one argument.
        case call(String, of: ArgumentKind)
        /// An operator between two texts.
        case infix(String)
        /// A message to a text with another text as argument: `FUNCTION(text, 'name:', text)`.
        case selector(String)
        /// A call with the values of a list.
        case extreme(String)
        /// `-` before a number.
        case sign
        /// `**` between two numbers.
        case power
        /// `CAST`, which states the type of constants.
        case cast(AttributeType)
        /// A call that is only written, in descriptions of conditions: no format is read as the function.
        case description(String)
    }

    /// The kind of the argument of a function.
    enum ArgumentKind {
        case number, text
    }

    /// The notation of the function.
    var notation: Notation {
        switch self {
        case .contains, .localizedContains: .infix("CONTAINS")
        case .startsWith: .infix("BEGINSWITH")
        case .endsWith: .infix("ENDSWITH")
        case .like: .infix("LIKE")
        case .matches: .infix("MATCHES")
        case .caseInsensitiveCompare, .localizedStandardCompare, .localizedCompare, .containsMatch:
            .selector("\(rawValue):")
        case .length, .foldCase, .foldDiacritics, .foldCaseAndDiacritics, .uppercase, .lowercase:
            .call(rawValue, of: .text)
        case .absolute: .call("abs", of: .number)
        case .truncate: .call("trunc", of: .number)
        case .squareRoot: .call("sqrt", of: .number)
        case .ceiling, .floor, .checkInt8, .checkInt16, .checkInt32, .checkUInt8, .checkUInt16, .checkUInt32,
            .roundToFloat:
            .call(rawValue, of: .number)
        case .minimum: .extreme("min")
        case .maximum: .extreme("max")
        case .negate: .sign
        case .power: .power
        case .asUInt64: .cast(.uint64)
        case .asDecimal: .cast(.decimal)
        case .equalsJSON, .slice: .description(rawValue)
        }
    }

    /// The function that `FUNCTION` sends by the name of a selector.
    static let bySelector: [String: Self] = allCases.reduce(into: [:]) { functions, function in
        if case .selector(let name) = function.notation { functions[name] = function }
    }
}
