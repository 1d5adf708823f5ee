extension QueryExpression {
    /// A function of values. Its value is null if a required argument is null.
    ///
    /// Texts are compared as in Swift: by characters, which are equal if they are canonically equivalent.
    public enum Function: String, CaseIterable, Hashable, Sendable {
        // To add a function, add a case with a comment that says the result for each kind of argument. The compiler then
        // names the type of the result, and the notation in predicate formats. The compiler does not name these places:
        //
        // 1. `apply(_:)`, which computes the value in memory and, as a function of SQLite, in statements: without the
        //    function, its value is null.
        // 2. `mayFail`, if the function throws for some arguments; the simplification, if the value can be null although
        //    no argument is null, or can be NaN (`QueryExpression+Nullability.swift`).
        // 3. The node of Foundation's predicates that means the function: a conformance to `ReadableExpression` in
        //    `SealedData`.
        // 4. `QueryGenerator.call(_:_:)`, if SQLite has a function or an operator with the same meaning, which an index
        //    can serve.
        // 5. The tests: the value against Swift's own, null as each argument, SQL against the evaluation in memory, and a
        //    format that is read and written. The list of functions in `PredicateFormats.md`.

        /// Whether the first text contains the second.
        case contains
        /// Whether the first text starts with the second.
        case startsWith
        /// Whether the first text ends with the second.
        case endsWith
        /// The number of characters of a text, or of bytes of data.
        case length
        /// Whether the first text contains the second, with case and diacritics ignored (`localizedStandardContains`).
        case localizedContains
        /// -1, 0 or 1: the order of two texts with case ignored.
        case caseInsensitiveCompare
        /// -1, 0 or 1: the order of two texts in lists for people (`localizedStandardCompare`).
        case localizedStandardCompare
        /// -1, 0 or 1: the order of two texts by the rules of the user's language.
        case localizedCompare
        /// A text without differences of case.
        case foldCase
        /// A text without diacritics.
        case foldDiacritics
        /// A text without differences of case and without diacritics.
        case foldCaseAndDiacritics
        /// Whether the whole first text matches the second, in which `?` matches one character and `*` any number of
        /// characters; `\` escapes both.
        case like
        /// Whether the whole first text matches the second, a regular expression in ICU's syntax.
        case matches
        /// Whether a part of the first text matches the second, a regular expression in Swift's syntax.
        case containsMatch
        /// Whether two JSON texts represent equal values: numbers are compared by value, texts as in Swift, and lists
        /// in their order.
        case equalsJSON
        /// The elements of a JSON list in a range of indexes; null if it has fewer.
        case slice
        /// A text in upper case.
        case uppercase
        /// A text in lower case.
        case lowercase
        /// The negative of a number.
        case negate
        /// A number without its sign.
        case absolute
        /// The smallest whole number that is not less.
        case ceiling
        /// The largest whole number that is not greater.
        case floor
        /// A number without its fraction.
        case truncate
        /// The square root.
        case squareRoot
        /// The first number to the power of the second.
        case power
        /// An integer; an error if it exceeds the range of the smaller type.
        case checkInt8, checkInt16, checkInt32, checkUInt8, checkUInt16, checkUInt32
        /// A number rounded to the nearest `Float`.
        case roundToFloat
        /// The value itself. States the type of a value that consists of constants, see
        /// ``QueryExpression/resultType``.
        case asUInt64, asDecimal
        /// The smallest of the values.
        case minimum
        /// The largest of the values.
        case maximum
    }
}

extension QueryExpression.Function {
    /// The integer type whose range the function checks; nil for other functions.
    package var checkedType: (any FixedWidthInteger.Type)? {
        switch self {
        case .checkInt8: Int8.self
        case .checkInt16: Int16.self
        case .checkInt32: Int32.self
        case .checkUInt8: UInt8.self
        case .checkUInt16: UInt16.self
        case .checkUInt32: UInt32.self
        default: nil
        }
    }

    /// Whether the function throws for some arguments.
    package var mayFail: Bool {
        switch self {
        case .negate, .absolute, .ceiling, .floor, .truncate, .power, .matches, .containsMatch: true
        default: checkedType != nil
        }
    }
}
