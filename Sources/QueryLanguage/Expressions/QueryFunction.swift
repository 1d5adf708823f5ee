extension QueryExpression {
    /// A function of values. Where an argument is null that a function needs, so is its value.
    ///
    /// Texts are compared as Swift compares them: by characters, which are equal whatever Unicode's form they are in.
    public enum Function: String, CaseIterable, Hashable, Sendable {
        /// Whether the first text contains the second.
        case contains
        /// Whether the first text starts with the second.
        case startsWith
        /// Whether the first text ends with the second.
        case endsWith
        /// The number of characters of a text, or of bytes of data.
        case length
        /// Whether the first text contains the second in the way of `localizedStandardContains`: case and diacritics do not
        /// count.
        case localizedContains
        /// -1, 0 or 1: the order of two texts with case ignored.
        case caseInsensitiveCompare
        /// -1, 0 or 1: the order of two texts in which a Finder would list them.
        case localizedStandardCompare
        /// -1, 0 or 1: the order of two texts by the rules of the user's language.
        case localizedCompare
        /// A text without differences of case.
        case foldCase
        /// A text without diacritics.
        case foldDiacritics
        /// A text without differences of case and without diacritics.
        case foldCaseAndDiacritics
        /// Whether the whole first text is like the second, in which `?` stands for a character and `*` for any number of
        /// them; after `\` they stand for themselves.
        case like
        /// Whether the whole first text is matched by the second, a regular expression as ICU understands it.
        case matches
        /// Whether a part of the first text is matched by the second, a regular expression as Swift understands it.
        case containsMatch
        /// Whether two JSON texts stand for equal values: numbers are equal by their value, texts as Swift compares them, and
        /// lists in their order.
        case equalsJSON
        /// The elements of a JSON list from an index on, up to another one; null where there are fewer.
        case slice
        /// A text in capital letters.
        case uppercase
        /// A text in small letters.
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
        /// An integer, which has to be in the range of a smaller type.
        case checkInt8, checkInt16, checkInt32, checkUInt8, checkUInt16, checkUInt32
        /// A number rounded to the nearest `Float`.
        case roundToFloat
        /// The smallest of the values.
        case minimum
        /// The largest of the values.
        case maximum
    }
}

extension QueryExpression.Function {
    /// The type whose range an integer has to be in.
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

    /// Whether there are arguments for which the function has no value, and throws.
    package var mayFail: Bool {
        switch self {
        case .negate, .absolute, .ceiling, .floor, .truncate, .power, .matches, .containsMatch: true
        default: checkedType != nil
        }
    }
}
