import Foundation
@testable import QueryLanguage
import Testing

/// The static types of values, which determine the kind of numbers of a calculation.
@Suite struct ResultTypeTests {
    private typealias Expression = QueryExpression

    private static let test = Expression.bool(true)
    private static let number = Expression.literal(.integer(1))
    private static let real = Expression.literal(.real(0.5))
    private static let decimal = Expression.literal(Decimal(1).storedValue)

    private func value(_ type: AttributeType) -> Expression { .element(0, type) }

    @Test(arguments: [AttributeType.uint64, .int8, .bool, .int64])
    func `an integer constant has the type of the integers beside it`(type: AttributeType) {
        #expect(Expression.coalesce([value(type), Self.number]).resultType == type)
        #expect(Expression.conditional(Self.test, Self.number, value(type)).resultType == type)
        let nested = Expression.conditional(Self.test, Self.number, .coalesce([.literal(.null), Self.number]))
        #expect(Expression.coalesce([value(type), nested]).resultType == type)
        #expect(Expression.function(.maximum, [Self.number, value(type)]).resultType == type)
    }

    @Test func `a constant of bytes has the type of the value beside it`() {
        #expect(Expression.coalesce([value(.decimal), Self.decimal]).resultType == .decimal)
        #expect(Expression.coalesce([value(.data), Self.decimal]).resultType == .data)
        #expect(Expression.conditional(Self.test, Self.decimal, .literal(.null)).resultType == .data)
    }

    @Test func `a constant of another storage class counts`() {
        #expect(Expression.coalesce([value(.int16), Self.real]).resultType == .double)
        #expect(Expression.coalesce([value(.date), Self.real]).resultType == .date)
        #expect(Expression.coalesce([value(.decimal), Self.number]).resultType == nil)
    }

    @Test func `both operands of a calculation can be choices`() {
        let price = Expression.coalesce([value(.decimal), Self.decimal])
        let code = Expression.conditional(Self.test, Self.number, value(.uint64))
        #expect(Expression.numberKind(of: price, price) == .decimal)
        #expect(Expression.numberKind(of: code, code) == .uint64)
        #expect(Expression.numberKind(of: Self.number, code) == .uint64)
        #expect(Expression.arithmetic(.add, .function(.negate, [price]), price).resultType == .decimal)
    }

    @Test func `constants get a type by a function`() {
        let choice = Expression.conditional(Self.test, Self.number, Self.number)
        #expect(choice.typed(as: .uint64).resultType == .uint64)
        #expect(choice.typed(as: .int64) == choice)
        #expect(Self.decimal.typed(as: .decimal).resultType == .decimal)
        #expect(Expression.calculating(.add, choice, Self.number, of: .uint64).resultType == .uint64)
        let typed = Expression.arithmetic(.add, value(.uint64), Self.number)
        #expect(Expression.calculating(.add, value(.uint64), Self.number, of: .uint64) == typed)
    }

    @Test func `the same value under a function is the same value`() throws {
        #expect(try Self.number.typed(as: .uint64).constantValue == .integer(1))
        let large = Expression.literal(UInt64.max.storedValue)
        #expect(throws: QueryError.arithmeticOverflow) {
            try Expression.calculating(.add, large, Self.number, of: .uint64).constantValue
        }
    }

    @Test(arguments: [
        [AttributeType.decimal, .data], [.decimal, .int64], [.uint64, .int64], [.uint64, .double], [.string, .int64],
    ])
    func `a calculation with a value of one of several types is an error`(types: [AttributeType]) {
        let mixed = Expression.coalesce(types.map(value))
        #expect(mixed.resultType == nil)
        #expect(mixed.hasConflictingTypes)
        #expect(Expression.numberKind(of: mixed, Self.number) == nil)
        #expect(Expression.numberKind(of: Self.number, .function(.negate, [mixed])) == nil)
        let constants = Expression.conditional(Self.test, Self.decimal, .literal(.text("")))
        #expect(throws: QueryError.conflictingTypes) {
            try Expression.arithmetic(.add, constants, Self.number).constantValue
        }
    }

    @Test func `a constant beside a number takes its type`() throws {
        #expect(try FormatFixtures.value("large / 2").resultType == .uint64)
        #expect(try FormatFixtures.value("2 * coalesce(large, 0)").resultType == .uint64)
        #expect(try FormatFixtures.value("price * 1.5").resultType == .decimal)
        #expect(throws: PredicateFormatError.self) { try FormatFixtures.value("large + -1") }
        #expect(throws: PredicateFormatError.self) { try FormatFixtures.value("large + 1.5") }
        #expect(throws: PredicateFormatError.self) { try FormatFixtures.value("price * 1e300") }
    }

    @Test(arguments: [
        "CAST(TERNARY(isOld, 18446744073709551615, 5), 'uint64') / 2",
        "CAST(TERNARY(isOld, 3, 5), 'uint64') / 2",
        "CAST(18446744073709551615, 'uint64') + 1",
    ])
    func `a calculation with typed constants is written and read`(format: String) throws {
        let expression = try FormatFixtures.condition("large > \(format)")
        let text = expression.predicateFormat(showingValuesFor: FormatFixtures.thing)
        #expect(text.contains("'uint64'"))
        #expect(try FormatFixtures.condition(text) == expression, "\(text)")
    }
}
