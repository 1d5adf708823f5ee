import QueryLanguage
import TestSupport
import Testing

@Suite("Collections in predicate formats") struct FormatCollectionTests {
    private static let condition = FormatFixtures.condition
    private static let tags = CollectionSource.members(from: 0, FormatFixtures.model.properties("Thing", ["tags"]))

    private static func tag(_ name: String, _ variable: Int = 1) -> QueryExpression {
        FormatFixtures.model.path(variable, "Tag", name)
    }

    private static func isLabel(_ label: String, _ variable: Int = 1) -> QueryExpression {
        .comparison(.equal, tag("label", variable), .literal(.text(label)))
    }

    @Test func `ANY, SOME, ALL and NONE range over a relationship`() throws {
        let any = QueryExpression.quantified(.any, Self.tags, variable: 1, condition: Self.isLabel("x"))
        #expect(try Self.condition("ANY tags.label == 'x'") == any)
        #expect(try Self.condition("some tags.label == 'x'") == any)
        #expect(
            try Self.condition("ALL tags.label == 'x'")
                == .quantified(.all, Self.tags, variable: 1, condition: Self.isLabel("x"))
        )
        #expect(try Self.condition("NONE tags.label == 'x'") == .not(any))
        #expect(
            try Self.condition("ANY tags.label IN {'x', 'y'}")
                == .quantified(
                    .any,
                    Self.tags,
                    variable: 1,
                    condition: .isMember(Self.tag("label"), of: ["x", "y"])
                )
        )
        #expect(
            try Self.condition("ANY tags.label == name")
                == .quantified(
                    .any,
                    Self.tags,
                    variable: 1,
                    condition: .comparison(.equal, Self.tag("label"), FormatFixtures.path("name"))
                )
        )
    }

    @Test func `a path over several relationships quantifies over each`() throws {
        let things = CollectionSource.members(from: 1, FormatFixtures.model.properties("Tag", ["things"]))
        let inner = QueryExpression.comparison(
            .greater,
            FormatFixtures.model.path(2, "Thing", "owner", "age"),
            .literal(.integer(3))
        )
        #expect(
            try Self.condition("ANY tags.things.owner.age > 3")
                == .quantified(
                    .any,
                    Self.tags,
                    variable: 1,
                    condition: .quantified(.any, things, variable: 2, condition: inner)
                )
        )
        #expect(
            try Self.condition("tags.things.@count > 3")
                == .comparison(
                    .greater,
                    .coalesce([
                        .aggregated(
                            .sum,
                            Self.tags,
                            variable: 1,
                            value: .count(things, variable: 2),
                            condition: .bool(true)
                        ),
                        .literal(.integer(0)),
                    ]),
                    .literal(.integer(3))
                )
        )
    }

    @Test func `both sides of a comparison may be collections`() throws {
        let condition = try Self.condition("ANY tags.rank == tags.@count")
        let count = QueryExpression.count(Self.tags, variable: 2)
        #expect(
            condition
                == .quantified(.any, Self.tags, variable: 1, condition: .comparison(.equal, Self.tag("rank"), count))
        )
        #expect(try Self.condition("tags.@count IN tags.rank") == condition)
        #expect(try Self.condition("tags.rank CONTAINS tags.@count") == condition)
    }

    @Test func `a constant list takes a quantifier too`() throws {
        let count = FormatFixtures.path("count")
        let (less, more): (QueryExpression, QueryExpression) = (
            .comparison(.greater, count, .literal(1)), .comparison(.greater, count, .literal(2))
        )
        #expect(try Self.condition("ANY {1, 2} < count") == .or([less, more]))
        #expect(try Self.condition("ALL %@ < count", [1, 2]) == .and([less, more]))
    }

    @Test func `collection operators compute from members`() throws {
        let value = FormatFixtures.value
        func aggregated(_ aggregate: QueryExpression.Aggregate, _ value: QueryExpression) -> QueryExpression {
            .aggregated(aggregate, Self.tags, variable: 1, value: value, condition: .bool(true))
        }
        let rank = Self.tag("rank")
        #expect(try value("tags.@count") == .count(Self.tags, variable: 1))
        #expect(try value("count(tags)") == .count(Self.tags, variable: 1))
        #expect(try value("tags.@sum.rank") == .coalesce([aggregated(.sum, rank), .literal(0)]))
        #expect(try value("@sum.tags.rank") == .coalesce([aggregated(.sum, rank), .literal(0)]))
        #expect(try value("sum:(tags.rank)") == .coalesce([aggregated(.sum, rank), .literal(0)]))
        #expect(try value("tags.@avg.rank") == aggregated(.average, rank))
        #expect(try value("average(tags.rank)") == aggregated(.average, rank))
        #expect(try value("tags.@min.label") == aggregated(.minimum, Self.tag("label")))
        #expect(try value("max(tags.rank)") == aggregated(.maximum, rank))
        #expect(
            try value("tags.@distinctUnionOfObjects.label.@count") == aggregated(.distinctCount, Self.tag("label"))
        )
    }

    @Test func `comparing @count with zero becomes an existence test`() throws {
        let any = QueryExpression.quantified(.any, Self.tags, variable: 1, condition: Self.isLabel("x"))
        let subquery = "SUBQUERY(tags, $t, $t.label == 'x')"
        for test in ["> 0", "!= 0", ">= 1"] {
            #expect(try Self.condition("\(subquery).@count \(test)") == any)
        }
        for test in ["== 0", "< 1", "<= 0"] {
            #expect(try Self.condition("\(subquery).@count \(test)") == .not(any))
        }
        #expect(
            try Self.condition("SUBQUERY(tags, $t, NOT $t.label == 'x').@count == 0")
                == .quantified(.all, Self.tags, variable: 1, condition: Self.isLabel("x"))
        )
    }

    @Test func `SUBQUERY can use the outer object and the variables of outer subqueries`() throws {
        let things = CollectionSource.members(from: 1, FormatFixtures.model.properties("Tag", ["things"]))
        let inner = QueryExpression.and([
            .comparison(.equal, FormatFixtures.model.path(2, "Thing", "name"), Self.tag("label")),
            .comparison(.notEqual, .variable(2), .variable(0)),
        ])
        #expect(
            try Self.condition(
                "SUBQUERY(tags, $t, SUBQUERY($t.things, $o, $o.name == $t.label AND $o != SELF).@count > 1).@count > 2"
            )
                == .comparison(
                    .greater,
                    .count(
                        Self.tags,
                        variable: 1,
                        condition: .comparison(
                            .greater,
                            .count(things, variable: 2, condition: inner),
                            .literal(1)
                        )
                    ),
                    .literal(2)
                )
        )
    }

    @Test func `a SUBQUERY's members are aggregated and compared like others`() throws {
        #expect(
            try FormatFixtures.value("SUBQUERY(tags, $t, $t.label == 'x').@max.rank")
                == .aggregated(
                    .maximum,
                    Self.tags,
                    variable: 1,
                    value: Self.tag("rank"),
                    condition: Self.isLabel("x")
                )
        )
        let rank = QueryExpression.comparison(.greater, Self.tag("rank"), .literal(1))
        #expect(
            try Self.condition("ANY SUBQUERY(tags, $t, $t.label == 'x').rank > 1")
                == .quantified(.any, Self.tags, variable: 1, condition: .and([Self.isLabel("x"), rank]))
        )
    }

    @Test func `the elements of a composite value are a collection, and its parts have names`() throws {
        let labels = FormatFixtures.path("labels")
        #expect(
            try Self.condition("ANY labels == 'x'")
                == .quantified(
                    .any,
                    .elements(of: labels, type: .string),
                    variable: 1,
                    condition: .comparison(.equal, .element(1, .string), .literal("x"))
                )
        )
        #expect(try Self.condition("'x' IN labels") == (try Self.condition("ANY labels == 'x'")))
        #expect(
            try Self.condition("SUBQUERY(labels, $l, $l BEGINSWITH 'x').@count > 1")
                == .comparison(
                    .greater,
                    .count(
                        .elements(of: labels, type: .string),
                        variable: 1,
                        condition: .function(.startsWith, [.element(1, .string), .literal("x")])
                    ),
                    .literal(1)
                )
        )
        #expect(
            try Self.condition("labels.city == 'x'")
                == .comparison(
                    .equal,
                    .component([.name("city")], of: labels, type: .string),
                    .literal("x")
                )
        )
        #expect(
            try Self.condition("labels.size.width > 3")
                == .comparison(
                    .greater,
                    .component([.name("size"), .name("width")], of: labels, type: .double),
                    .literal(.real(3))
                )
        )
    }
}
