public import QueryLanguage

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a value from a literal.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a value from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a value from a literal.
    public init(floatLiteral value: Double) { self = .real(value) }
}
