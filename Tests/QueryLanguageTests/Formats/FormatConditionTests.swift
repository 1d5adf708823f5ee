import QueryLanguage
import TestSupport
import Testing

@Suite("Conditions in predicate formats") struct FormatConditionTests {
    private static let path = FormatFixtures.path
    private static let condition = FormatFixtures.condition

    private static func count(_ comparison: QueryExpression.Comparison, _ value: Int64) -> QueryExpression {
        .comparison(comparison, path("count"), .literal(.integer(value)))
    }

    @Test(arguments: [
        ("=", QueryExpression.Comparison.equal), ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less),
        ("<=", .lessOrEqual), ("=<", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual), ("=>", .greaterOrEqual),
    ])
    func `an operator has several spellings`(text: String, comparison: QueryExpression.Comparison) throws {
        #expect(try Self.condition("count \(text) 3") == Self.count(comparison, 3))
        #expect(try Self.condition("count\(text)3") == Self.count(comparison, 3))
        #expect(
            try Self.condition("3 \(text) count") == Self.count(comparison.mirrored, 3),
            "the constant is on the right"
        )
    }

    @Test func `AND binds tighter than OR, and NOT tighter than both`() throws {
        let (one, two, three) = (Self.count(.equal, 1), Self.count(.equal, 2), Self.count(.equal, 3))
        #expect(
            try Self.condition("count = 1 OR count = 2 AND NOT count = 3")
                == .or([one, .and([two, Self.count(.notEqual, 3)])])
        )
        #expect(try Self.condition("count=1||count=2&&!count=3") == .or([one, .and([two, Self.count(.notEqual, 3)])]))
        #expect(
            try Self.condition("(count = 1 or count = 2) and count = 3")
                == .and([.isMember(Self.path("count"), of: [1, 2]), three])
        )
        #expect(try Self.condition("count = 1 AND count = 2 AND count = 3") == .and([one, two, three]))
        #expect(try Self.condition("NOT NOT count = 1") == one)
        #expect(try Self.condition("not(count = 1 and count = 2)") == .not(.and([one, two])))
    }

    @Test func `constants and Boolean attributes are conditions`() throws {
        #expect(try Self.condition("TRUEPREDICATE") == .bool(true))
        #expect(try Self.condition("FalsePredicate OR isOld") == .comparison(.equal, Self.path("isOld"), .bool(true)))
        #expect(try Self.condition("NOT isOld") == .comparison(.notEqual, Self.path("isOld"), .bool(true)))
    }

    @Test func `calculations bind by their precedence`() throws {
        func literal(_ value: Int64) -> QueryExpression { .literal(.integer(value)) }
        let count = Self.path("count")
        let value = FormatFixtures.value
        #expect(try value("count + 2 * 3") == .arithmetic(.add, count, .arithmetic(.multiply, literal(2), literal(3))))
        #expect(
            try value("(count + 2) * 3") == .arithmetic(.multiply, .arithmetic(.add, count, literal(2)), literal(3))
        )
        #expect(
            try value("count - 1 - 2") == .arithmetic(.subtract, .arithmetic(.subtract, count, literal(1)), literal(2))
        )
        #expect(
            try value("count / 2 %% 3") == .arithmetic(.remainder, .arithmetic(.divide, count, literal(2)), literal(3))
        )
        #expect(
            try value("2 ** count ** 3") == .function(.power, [literal(2), .function(.power, [count, literal(3)])])
        )
        #expect(try value("-count ** 2") == .function(.negate, [.function(.power, [count, literal(2)])]))
        #expect(try value("-count + -2") == .arithmetic(.add, .function(.negate, [count]), literal(-2)))
        #expect(try value("weight * 2") == .arithmetic(.multiply, Self.path("weight"), .literal(.real(2))))
    }

    @Test func `texts are compared with options`() throws {
        let (name, x) = (Self.path("name"), QueryExpression.literal(.text("x")))
        func folded(_ function: QueryExpression.Function, _ value: QueryExpression) -> QueryExpression {
            .function(function, [value])
        }
        #expect(try Self.condition("name CONTAINS 'x'") == .function(.contains, [name, x]))
        #expect(try Self.condition("name beginswith 'x'") == .function(.startsWith, [name, x]))
        #expect(try Self.condition("name ENDSWITH[n] 'x'") == .function(.endsWith, [name, x]))
        #expect(try Self.condition("name LIKE 'x'") == .function(.like, [name, x]))
        #expect(try Self.condition("name MATCHES 'x'") == .function(.matches, [name, x]))
        #expect(try Self.condition("name CONTAINS[l] 'x'") == .function(.localizedContains, [name, x]))
        #expect(
            try Self.condition("name CONTAINS[cd] 'x'")
                == .function(.contains, [folded(.foldCaseAndDiacritics, name), folded(.foldCaseAndDiacritics, x)])
        )
        #expect(
            try Self.condition("name LIKE[ c ] 'x'")
                == .function(.like, [folded(.foldCase, name), folded(.foldCase, x)])
        )
        #expect(
            try Self.condition("name ==[d] 'x'")
                == .comparison(.equal, folded(.foldDiacritics, name), folded(.foldDiacritics, x))
        )
        #expect(
            try Self.condition("name <[c] 'x'") == .comparison(.less, folded(.foldCase, name), folded(.foldCase, x))
        )
        #expect(try Self.condition("name ==[c] NIL") == .comparison(.equal, name, .literal(.null)))
        #expect(try Self.condition("name MATCHES[c] 'x'") == .function(.matches, [name, .literal(.text("(?i)x"))]))
        #expect(
            try Self.condition("name IN[c] {'X'}") == .isMember(folded(.foldCase, name), of: ["x"])
        )
    }

    @Test func `IN searches lists, texts and relationships`() throws {
        #expect(try Self.condition("'x' IN name") == .function(.contains, [Self.path("name"), .literal(.text("x"))]))
        #expect(
            try Self.condition("count IN {small, 2}")
                == .or([.comparison(.equal, Self.path("count"), Self.path("small")), Self.count(.equal, 2)])
        )
        let hasTag = try Self.condition("ANY tags.label == 'x'")
        #expect(try Self.condition("tags.label CONTAINS 'x'") == hasTag)
        #expect(
            try Self.condition("'x' IN tags.label") == hasTag
        )
        #expect(try Self.condition("count IN {}") == .isMember(Self.path("count"), of: []))
    }

    @Test func `unsigned integers beyond those with a sign are ordered as unsigned`() throws {
        let large = Self.path("large")
        #expect(
            try Self.condition("large > 5")
                == .or([
                    .comparison(.less, large, .literal(.integer(0))),
                    .comparison(.greater, large, .literal(.integer(5))),
                ])
        )
    }

    @Test func `dates are added and subtracted in seconds`() throws {
        let made = Self.path("made")
        #expect(
            try Self.condition("made > CAST(9, 'NSDate') - 5")
                == .comparison(
                    .greater,
                    made,
                    .arithmetic(.subtract, .literal(.real(9)), .literal(.real(5)))
                )
        )
        #expect(
            try Self.condition("FUNCTION(made, 'timeIntervalSinceDate:', CAST(9, 'NSDate')) > 5")
                == .comparison(
                    .greater,
                    .arithmetic(.subtract, made, .literal(.real(9))),
                    .literal(.real(5))
                )
        )
        #expect(
            try Self.condition("CAST(made, 'NSNumber') > 5") == .comparison(.greater, made, .literal(.real(5)))
        )
    }

    @Test func `functions have names with and without colons`() throws {
        let value = FormatFixtures.value
        let (count, name) = (Self.path("count"), Self.path("name"))
        #expect(try value("abs(count)") == .function(.absolute, [count]))
        #expect(try value("abs:(count)") == .function(.absolute, [count]))
        #expect(try value("ABS(count)") == .function(.absolute, [count]))
        #expect(try value("FUNCTION(count, 'abs:')") == .function(.absolute, [count]))
        #expect(try value("ceiling(weight)") == .function(.ceiling, [Self.path("weight")]))
        #expect(try value("floor:(weight)") == .function(.floor, [Self.path("weight")]))
        #expect(try value("trunc(weight)") == .function(.truncate, [Self.path("weight")]))
        #expect(try value("sqrt(count)") == .function(.squareRoot, [count]))
        #expect(try value("length:(name)") == .function(.length, [name]))
        #expect(try value("name.length") == .function(.length, [name]))
        #expect(try value("uppercase(name)") == .function(.uppercase, [name]))
        #expect(try value("FUNCTION(name, 'lowercaseString')") == .function(.lowercase, [name]))
        #expect(try value("add:to:(count, 1)") == (try value("count + 1")))
        #expect(try value("from:subtract:(count, 1)") == (try value("count - 1")))
        #expect(try value("multiply:by:(count, 2)") == (try value("count * 2")))
        #expect(try value("divide:by:(count, 2)") == (try value("count / 2")))
        #expect(try value("modulus:by:(count, 2)") == (try value("count %% 2")))
        #expect(try value("max(count, small, 3)") == .function(.maximum, [count, Self.path("small"), .literal(3)]))
        #expect(try value("min({count, 3})") == .function(.minimum, [count, .literal(3)]))
        #expect(try value("count({1, 2, 3})") == .literal(3))
        #expect(try value("sum({count, 3})") == .arithmetic(.add, count, .literal(3)))
        #expect(try value("coalesce(name, '')") == .coalesce([name, .literal("")]))
        #expect(
            try value("TERNARY(count > 1, name, NIL)")
                == .conditional(Self.count(.greater, 1), name, .literal(.null))
        )
    }

    @Test func `objects are compared with objects and asked for their entity`() throws {
        #expect(try Self.condition("owner == NIL") == .comparison(.equal, Self.path("owner"), .literal(.null)))
        let tool = FormatFixtures.model.entitiesByName["Tool"]!
        #expect(try Self.condition("FUNCTION(SELF, 'isKindOfEntity:', 'Tool')") == .isKind(from: 0, [], of: tool))
        #expect(
            try Self.condition("power > 1")
                == .comparison(.greater, .path(from: 0, [tool.propertiesByName["power"]!]), .literal(.integer(1)))
        )
        #expect(
            try Self.condition("CAST(SELF, 'Tool').grade > 1")
                == .comparison(.greater, .path(from: 0, [tool.propertiesByName["grade"]!]), .literal(.integer(1)))
        )
    }
}
