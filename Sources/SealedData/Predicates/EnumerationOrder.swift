import ObjectGraph

/// The order of values that are stored in another form: enumerations and other types with raw values, and enumerations
/// that are stored as JSON text.
///
/// Swift compares them by their `<`, a store by their stored form. If the two orders differ, the expression maps each
/// case to its rank in the order of `<`.
enum EnumerationOrder {
    /// Returns the expression by which values of a type are ordered.
    ///
    /// - Throws: ``UnsupportedPredicate`` for a type whose order differs from the order of the stored form, and whose
    ///   values cannot be listed.
    static func rank(of value: QueryExpression, as type: any Any.Type) throws -> QueryExpression {
        let type = PropertyKind.unwrapped(type)
        if let storable = type as? any StorableValue.Type, value.resultType != .composite {
            return storable.attributeType == .uint64 ? value.unsignedRank : value
        }
        guard let comparable = type as? any Comparable.Type else {
            // Swift does not compare the type. Its stored form has an order, unless it is JSON text.
            guard type is any RawRepresentable.Type, value.resultType != .composite else {
                throw UnsupportedPredicate("the order of '\(type)'")
            }
            return value.resultType == .uint64 ? value.unsignedRank : value
        }
        return try rank(of: value, asComparable: comparable)
    }

    private static func rank<T: Comparable>(of value: QueryExpression, asComparable type: T.Type) throws
        -> QueryExpression
    {
        let (cases, areComplete) = samples(of: type)
        let literals = try cases.map { try literal(of: $0) }
        let isUnsigned = value.resultType == .uint64
        if value.resultType != .composite, isOrder(of: cases, thatOf: literals, isUnsigned: isUnsigned) {
            return isUnsigned ? value.unsignedRank : value
        }
        guard areComplete, !cases.isEmpty else {
            throw UnsupportedPredicate(
                value.resultType == .composite
                    ? "the order of '\(type)', whose values are stored as JSON text; store a number or a text with the "
                        + "same order in a property of its own"
                    : "the order of '\(type)', which differs from the order of its raw values"
            )
        }
        var groups: [(first: T, literals: [Value])] = []
        for (element, literal) in zip(cases, literals).sorted(by: { $0.0 < $1.0 }) {
            if let last = groups.last, !(last.first < element) {
                groups[groups.count - 1].literals.append(literal)
            } else {
                groups.append((element, [literal]))
            }
        }
        let ranks = groups.enumerated().map { (rank: $0, literals: $1.literals) }
        return .conditional(.isMember(value, of: literals), tree(value, ranks[...]), .literal(.null))
    }

    /// Returns the rank of one of several values, as a decision tree of logarithmic depth.
    private static func tree(
        _ value: QueryExpression,
        _ ranks: ArraySlice<(rank: Int, literals: [Value])>
    ) -> QueryExpression {
        guard let first = ranks.first, ranks.count > 1 else {
            return .literal(.integer(Int64(ranks.first?.rank ?? 0)))
        }
        let half = ranks.prefix(ranks.count / 2)
        return .conditional(
            .isMember(value, of: half.isEmpty ? first.literals : half.flatMap(\.literals)),
            tree(value, half),
            tree(value, ranks.dropFirst(half.count))
        )
    }

    /// Returns the stored forms of the values of a type for which a condition holds.
    ///
    /// - Throws: ``UnsupportedPredicate`` for a type whose values cannot be listed.
    static func literals<T: Comparable>(of type: T.Type, where condition: (T) -> Bool) throws -> [Value] {
        let (cases, areComplete) = samples(of: type)
        guard areComplete else {
            throw UnsupportedPredicate("an order comparison of '\(type)', whose values cannot be listed")
        }
        return try cases.filter(condition).map { try literal(of: $0) }
    }

    private static func samples<T>(of type: T.Type) -> (values: [T], areComplete: Bool) {
        func samples<Raw: RawRepresentable>(_ raw: Raw.Type) -> (values: [T], areComplete: Bool) {
            (raw.samples.values.compactMap { $0 as? T }, raw.samples.areComplete)
        }
        if let raw = type as? any RawRepresentable.Type { return samples(raw) }
        if let cases = EnumerationCases.all(of: type) { return (cases, true) }
        guard let cases = type as? any CaseIterable.Type else { return ([], false) }
        let values = allCases(of: cases)
        let isEnumeration = values.first.map { Mirror(reflecting: $0).displayStyle == .enum } ?? false
        return (values.compactMap { $0 as? T }, isEnumeration)
    }

    private static func literal<T>(of value: T) throws -> Value {
        guard let literal = queryLiteral(of: value) ?? CompositeEquality.encodedText(of: value).map(Value.text) else {
            throw UnsupportedPredicate("the order of '\(T.self)', which cannot be encoded")
        }
        return literal
    }

    /// Returns whether values have the same order as their stored forms.
    private static func isOrder<T: Comparable>(of cases: [T], thatOf literals: [Value], isUnsigned: Bool) -> Bool {
        func precedes(_ left: Value, _ right: Value) -> Bool {
            if isUnsigned, case .integer(let left) = left, case .integer(let right) = right {
                return UInt64(bitPattern: left) < UInt64(bitPattern: right)
            }
            return left.compare(right) < 0
        }
        return !cases.isEmpty
            && cases.indices.allSatisfy { left in
                cases.indices.allSatisfy { right in
                    (cases[left] < cases[right]) == precedes(literals[left], literals[right])
                }
            }
    }
}
