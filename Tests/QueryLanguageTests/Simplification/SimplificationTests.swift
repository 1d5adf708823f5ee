import QueryLanguage
import TestSupport
import Testing

@Suite struct SimplificationTests {
    private typealias Expression = QueryExpression

    private static let count = FormatFixtures.path("count")
    private static let small = FormatFixtures.path("small")
    private static let isSmall = Expression.comparison(.less, count, .literal(3))
    private static let isNull = Expression.comparison(.equal, count, .literal(.null))
    private static let isPresent = Expression.comparison(.notEqual, count, .literal(.null))
    private static let tags = CollectionSource.members(from: 0, FormatFixtures.model.properties("Thing", ["tags"]))
    private static let ownedThings = CollectionSource.members(
        from: 0,
        FormatFixtures.model.properties("Thing", ["owner", "things"])
    )
    private static let isRanked = Expression.comparison(
        .equal,
        FormatFixtures.model.path(1, "Tag", "rank"),
        .literal(1)
    )

    private static func equals(_ value: Value) -> Expression { .comparison(.equal, count, .literal(value)) }

    @Test func `a conjunction is flat, and has no constants`() {
        let (one, two) = (Self.isSmall, Self.equals(1))
        #expect(Expression.conjunction([one, .and([two, one])]) == .and([one, two, one]))
        #expect(Expression.conjunction([.bool(true), one]) == one)
        #expect(Expression.conjunction([one, .bool(false)]) == .bool(false))
        #expect(Expression.conjunction([]) == .bool(true))
    }

    @Test func `a test for null is dropped if another condition implies it`() {
        #expect(Expression.conjunction([Self.isPresent, Self.isSmall]) == Self.isSmall)
        #expect(Expression.conjunction([Self.equals(1), Self.isPresent]) == Self.equals(1))
        let isDifferent = Expression.comparison(.notEqual, Self.count, .literal(1))
        #expect(Expression.conjunction([Self.isPresent, isDifferent]) == .and([Self.isPresent, isDifferent]))
        #expect(Expression.conjunction([Self.isPresent, Self.isPresent]) == Self.isPresent)
    }

    @Test func `a disjunction of equalities is a list`() {
        #expect(
            Expression.disjunction([Self.equals(1), Self.equals(2), .isMember(Self.count, of: [3, 4])])
                == .isMember(Self.count, of: [1, 2, 3, 4])
        )
        let other = Expression.comparison(.equal, Self.small, .literal(1))
        #expect(Expression.disjunction([Self.equals(1), other]) == .or([Self.equals(1), other]))
        #expect(Expression.disjunction([]) == .bool(false))
    }

    @Test func `an order comparison of unsigned integers stays one condition`() {
        let comparison = Expression.comparingUnsigned(.less, FormatFixtures.path("large"), .literal(5))
        #expect(Expression.conjunction([Self.isSmall, comparison]) == .and([Self.isSmall, comparison]))
        let other = Expression.comparingUnsigned(.greater, FormatFixtures.path("large"), .literal(5))
        #expect(Expression.disjunction([Self.isSmall, other]) == .or([Self.isSmall, other]))
    }

    @Test func `a negation is undone by another one`() {
        let any = Expression.quantified(.any, Self.tags, variable: 1, condition: Self.isRanked)
        let all = Expression.quantified(.all, Self.tags, variable: 1, condition: Self.isRanked)
        for condition in [Self.isSmall, Self.isNull, Self.isPresent, any, all, .bool(true), .and([Self.isSmall, any])] {
            #expect(Expression.negation(.negation(condition)) == condition)
        }
    }

    @Test func `a constant is on the right, and two constants are compared at once`() {
        #expect(Expression.comparing(.less, .literal(3), Self.count) == .comparison(.greater, Self.count, .literal(3)))
        #expect(Expression.comparing(.less, .literal(3), .literal(4)) == .bool(true))
        #expect(Expression.comparing(.equal, .literal(.null), .literal(.null)) == .bool(true))
        #expect(Expression.comparing(.less, .literal(.null), .literal(1)) == .bool(false))
        #expect(Expression.comparing(.notEqual, Self.count, .literal(.real(.nan))) == .bool(true))
        #expect(Expression.comparing(.lessOrEqual, Self.count, .literal(.real(.nan))) == .bool(false))
    }

    @Test(arguments: [
        (Expression.Comparison.greater, 0 as Int64, true), (.greaterOrEqual, 1, true), (.notEqual, 0, true),
        (.equal, 0, false), (.less, 1, false), (.lessOrEqual, 0, false),
    ])
    func `a comparison of a count with nothing looks for one member`(
        comparison: QueryExpression.Comparison,
        number: Int64,
        exists: Bool
    ) {
        let any = Expression.quantified(.any, Self.tags, variable: 1, condition: Self.isRanked)
        let count = Expression.count(Self.tags, variable: 1, condition: Self.isRanked)
        #expect(Expression.comparing(comparison, count, .literal(.integer(number))) == (exists ? any : .not(any)))
    }

    @Test func `a count that can be null is compared as such`() {
        let count = Expression.count(Self.ownedThings, variable: 1)
        let any = Expression.quantified(.any, Self.ownedThings, variable: 1, condition: .bool(true))
        #expect(Expression.comparing(.greater, count, .literal(0)) == any)
        for comparison in [Expression.Comparison.equal, .notEqual, .lessOrEqual] {
            #expect(
                Expression.comparing(comparison, count, .literal(0)) == .comparison(comparison, count, .literal(0))
            )
        }
    }

    @Test func `a condition on all members has no negation`() {
        let any = Expression.quantified(.any, Self.tags, variable: 1, condition: Self.isRanked)
        func all(_ condition: Expression) -> Expression {
            .quantifying(.all, Self.tags, variable: 1, condition: condition)
        }
        #expect(all(.negation(Self.isRanked)) == .not(any))
        #expect(all(.bool(true)) == .bool(true))
        #expect(
            Expression.negation(.quantifying(.any, Self.tags, variable: 1, condition: .negation(Self.isRanked)))
                == all(Self.isRanked)
        )
    }
}
