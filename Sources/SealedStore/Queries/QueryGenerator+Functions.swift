import ObjectGraph

extension QueryGenerator {
    // MARK: Functions

    /// A call of a function.
    mutating func call(
        _ function: QueryExpression.Function,
        _ arguments: [QueryExpression]
    ) throws(SealedStoreError) -> String {
        var texts: [String] = []
        for argument in arguments { texts.append(try value(argument)) }
        if [.asUInt64, .asDecimal].contains(function), texts.count == 1 { return texts[0] }
        // These functions of SQLite have the same semantics as Swift's.
        if function == .negate, arguments.count == 1, arguments[0].resultType?.storage == .real {
            return "(-\(texts[0]))"
        }
        return "\(QueryFunctions.name(of: function))(\(texts.joined(separator: ", ")))"
    }

    /// A calculation with two numbers. SQLite's own operators behave differently on overflow and on division by zero.
    mutating func calculation(
        _ operation: QueryExpression.Arithmetic,
        _ left: QueryExpression,
        _ right: QueryExpression
    ) throws(SealedStoreError) -> String {
        guard let kind = QueryExpression.numberKind(of: left, right) else {
            throw .unsupportedQuery("\(QueryError.conflictingTypes)")
        }
        let (leftText, rightText) = (try value(left), try value(right))
        if kind == .double {
            switch operation {
            case .add: return "(\(leftText) + \(rightText))"
            case .subtract: return "(\(leftText) - \(rightText))"
            case .multiply: return "(\(leftText) * \(rightText))"
            case .divide, .remainder: break
            }
        }
        return "\(QueryFunctions.name(of: operation, kind))(\(leftText), \(rightText))"
    }

    /// The value of an expression that depends on no object, computed here.
    mutating func constant(_ expression: QueryExpression) throws(SealedStoreError) -> String {
        let value: Value
        do {
            value = try expression.constantValue
        } catch QueryError.arithmeticOverflow {
            // The argument makes the call depend on the row: SQLite would evaluate a constant call at the start of the
            // statement, even if no row reaches it.
            return "\(QueryFunctions.failureName)(\(source(of: 0).alias).\"_id\")"
        } catch {
            throw .unsupportedQuery("\(error)")
        }
        if value.isNull { return "NULL" }
        parameters.append(.value(value))
        return "?"
    }

    // MARK: Aggregates

    mutating func call(
        _ aggregate: QueryExpression.Aggregate,
        _ argument: QueryExpression
    ) throws(SealedStoreError) -> String {
        if aggregate == .count, argument == .variable(0) { return "count(*)" }
        if argument.resultType == .uint64 {
            switch aggregate {
            // Unsigned integers from 2⁶³ on are stored as negative integers.
            case .sum:
                // The test is not written with `abs`, which fails for the smallest integer.
                let test = "\(try value(argument)) < 0"
                return "sum(CASE WHEN \(test) THEN abs(-9223372036854775807 - 1) ELSE \(try value(argument)) END)"
            case .average:
                let test = "\(try value(argument)) < 0"
                let real = "\(try value(argument)) + CASE WHEN \(test) THEN 18446744073709551616.0 ELSE 0.0 END"
                return "avg(\(real))"
            case .minimum, .maximum:
                let isMinimum = aggregate == .minimum
                let test = "\(try value(argument)) \(isMinimum ? ">= 0" : "< 0")"
                let preferred = "CASE WHEN \(test) THEN \(try value(argument)) END"
                let name = Self.name(of: aggregate)
                return "coalesce(\(name)(\(preferred)), \(name)(\(try value(argument))))"
            case .count, .distinctCount: break
            }
        }
        if argument.mayBeNotANumber, let call = try callCountingNaN(aggregate, argument) { return call }
        let text = aggregate == .count ? try value(argument) : try ordered(argument)
        if argument.resultType == .decimal {
            switch aggregate {
            case .sum: return "\(DecimalSumFunction.name)(\(text))"
            case .average: return "\(DecimalAverageFunction.name)(\(text))"
            // The stored bytes have the order of the numbers.
            case .minimum, .maximum, .count, .distinctCount: break
            }
        }
        if aggregate == .average, argument.resultType?.averageType.storage == .integer {
            return "CAST(round(avg(\(text))) AS INTEGER)"
        }
        return aggregate == .distinctCount ? "count(DISTINCT \(text))" : "\(Self.name(of: aggregate))(\(text))"
    }

    /// A count, sum or average of values of which some can be NaN; nil for other aggregates. SQL's own aggregates ignore
    /// NaN, which is NULL there.
    private mutating func callCountingNaN(
        _ aggregate: QueryExpression.Aggregate,
        _ argument: QueryExpression
    ) throws(SealedStoreError) -> String? {
        guard [.count, .sum, .average].contains(aggregate) else { return nil }
        let count = "count(CASE WHEN \(try condition(argument.nullTest, mayBeNull: true)) THEN NULL ELSE 1 END)"
        if aggregate == .count { return count }
        let numberCount = "count(\(try value(argument)))"
        return "(CASE WHEN \(count) = \(numberCount) THEN \(Self.name(of: aggregate))(\(try value(argument))) END)"
    }

    /// A sum of floating-point numbers of the members of a collection, or 0 for none; nil for other values.
    mutating func total(_ parts: [QueryExpression]) throws(SealedStoreError) -> String? {
        guard parts.count == 2, case .aggregated(.sum, let source, let variable, let value, let condition) = parts[0],
            parts[1] == .literal(.real(0)), value.resultType?.storage == .real, !value.mayBeNotANumber
        else { return nil }
        return try select(from: source, variable: variable, where: condition) {
            (generator) throws(SealedStoreError) -> String in "total(\(try generator.value(value)))"
        }
    }

    // MARK: Columns

    /// The text for NaN in a column of floating-point numbers: a value of SQLite cannot be NaN.
    static let notANumberText = "nan"

    /// Whether ``column(_:)`` writes ``notANumberText`` for NaN.
    static func marksNotANumber(_ expression: QueryExpression) -> Bool {
        expression.mayBeNotANumber && expression.resultType?.storage == .real
    }

    /// A value as a column of a result.
    mutating func column(_ expression: QueryExpression) throws(SealedStoreError) -> String {
        guard Self.marksNotANumber(expression) else { return try value(expression) }
        let isNull = try condition(expression.nullTest, mayBeNull: true)
        return "CASE WHEN \(isNull) THEN NULL ELSE coalesce(\(try value(expression)), '\(Self.notANumberText)') END"
    }

    private static func name(of aggregate: QueryExpression.Aggregate) -> String {
        switch aggregate {
        case .count, .distinctCount: "count"
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        }
    }
}
