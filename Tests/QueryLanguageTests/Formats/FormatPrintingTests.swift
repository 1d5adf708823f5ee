import QueryLanguage
import TestSupport
import Testing

@Suite("Printed predicate formats") struct FormatPrintingTests {
    /// Formats and their printed forms.
    static let formats: [(format: String, written: String)] = [
        ("name = 'x'", "name == 'x'"), ("name <> NULL", "name != NIL"), ("3 < count", "count > 3"),
        ("isOld = yes && count=>3||!(name=='a\"\\'\\n')", #"isOld == TRUE AND count >= 3 OR name != 'a"\'\n'"#),
        ("(isOld == 1 or count == 1) and small == 2", "(isOld == TRUE OR count == 1) AND small == 2"),
        ("NOT (count == 1 AND small == 2)", "NOT (count == 1 AND small == 2)"), ("NOT isOld", "isOld != TRUE"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("count = 1 AND (small = 1 AND name = '')", "count == 1 AND small == 1 AND name == ''"),
        ("name contains[cd] 'x'", "name CONTAINS[cd] 'x'"), ("name LIKE[c] 'x*'", "name LIKE[c] 'x*'"),
        ("name MATCHES '.*'", "name MATCHES '.*'"), ("name CONTAINS[l] 'x'", "name CONTAINS[l] 'x'"),
        ("name <[l] 'x'", "name <[l] 'x'"), ("name ==[d] owner.name", "name ==[d] owner.name"),
        ("name IN[c] {'X'}", "foldCase(name) IN {'x'}"),
        ("name MATCHES[cd] 'é'", "foldDiacritics(name) MATCHES '(?i)e'"),
        ("count IN {1, 2, NIL}", "count IN {1, 2, NIL}"), ("count BETWEEN {1, 5}", "count >= 1 AND count <= 5"),
        ("large > 5", "large > 5"), ("large <= 18446744073709551615", "large <= 18446744073709551615"),
        ("large > coalesce(large, 3)", "large > coalesce(large, 3)"),
        ("5 >= large AND small == 1", "large <= 5 AND small == 1"),
        ("price == 19.99", "price == CAST('19.99', 'NSDecimalNumber')"),
        ("made < '2001-01-02'", "made < CAST(86400.0, 'NSDate')"), ("made + 5 > made - 5.5", "made + 5.0 > made - 5.5"),
        (
            "code == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'",
            "code == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')"
        ),
        ("bytes == CAST('AQI=', 'NSData')", "bytes == CAST('AQI=', 'NSData')"), ("link == 'a:b'", "link == 'a:b'"),
        ("ratio == 0.1", "ratio == 0.10000000149011612"), ("weight == -2", "weight == -2.0"),
        ("weight == 1e300", "weight == 1e+300"),
        ("owner == CAST(7, 'Person')", "owner == CAST(7, 'Person')"),
        ("SELF == CAST(7, 'Thing')", "SELF == CAST(7, 'Thing')"),
        ("owner IN {CAST(7, 'Person')}", "owner IN {CAST(7, 'Person')}"),
        ("(count + 2) * 3 - 4 / 5 == -count", "(count + 2) * 3 - 4 / 5 == -count"),
        ("count - (2 - 3) = 2 ** (3 ** 2)", "count - (2 - 3) == 2 ** 3 ** 2"),
        ("(2 ** 3) ** 2 = (-2) ** 2", "(2 ** 3) ** 2 == (-2) ** 2"),
        ("modulus:by:(count, 2) == 1", "modulus:by:(count, 2) == 1"),
        ("abs:(count) = length:(name)", "abs(count) == length(name)"),
        ("uppercase(name) == 'X'", "uppercase(name) == 'X'"),
        ("TERNARY(isOld, count, 3) > 2", "TERNARY(isOld == TRUE, count, 3) > 2"),
        ("(count > 1) == (small > 1)", "(count > 1) == (small > 1)"),
        ("coalesce(name, '') == ''", "coalesce(name, '') == ''"),
        ("FUNCTION(name, 'caseInsensitiveCompare:', 'x') == 0", "FUNCTION(name, 'caseInsensitiveCompare:', 'x') == 0"),
        ("FUNCTION(SELF, 'isKindOfEntity:', 'Tool')", "FUNCTION(SELF, 'isKindOfEntity:', 'Tool')"),
        ("CAST(SELF, 'Tool').grade > 1", "CAST(SELF, 'Tool').grade > 1"), ("power > 1", "power > 1"),
        ("#in == 'x'", "#in == 'x'"), ("SELF.in == 'x'", "#in == 'x'"),
        ("first\\u0020name == 'x'", "first\\u0020name == 'x'"),
        ("名前 == '🍵'", "名前 == '🍵'"), ("ANY tags.label == 'x'", "ANY tags.label == 'x'"),
        ("NONE tags.label ==[c] 'x'", "NOT ANY tags.label ==[c] 'x'"),
        ("ALL tags.things.count > 1", "ALL tags.things.count > 1"),
        ("ANY tags == CAST(3, 'Tag')", "ANY tags == CAST(3, 'Tag')"),
        ("ANY owner.things.owner.name LIKE 'x'", "ANY owner.things.owner.name LIKE 'x'"),
        ("ANY tags.label IN {'a', 'b'}", "ANY tags.label IN {'a', 'b'}"), ("ANY tags.things.large > 3", ""),
        ("ANY tags.rank == tags.@count", "SUBQUERY(tags, $x1, $x1.rank == tags.@count).@count > 0"),
        (
            "SUBQUERY(tags, $t, $t.rank > 1 AND $t.label == name).@count > 2",
            "SUBQUERY(tags, $x1, $x1.rank > 1 AND $x1.label == name).@count > 2"
        ),
        (
            "SUBQUERY(tags, $t, $t.rank > 1 AND $t.label == name).@count != 0",
            "SUBQUERY(tags, $x1, $x1.rank > 1 AND $x1.label == name).@count > 0"
        ),
        (
            "SUBQUERY(tags, $t, NOT ($t.rank > 1 OR isOld)).@count == 0",
            "NOT SUBQUERY(tags, $x1, NOT ($x1.rank > 1 OR isOld == TRUE)).@count > 0"
        ),
        (
            "SUBQUERY(tags, $t, SUBQUERY($t.things, $o, $o != SELF AND $o.name == 'x').@count > 1).@count > 1",
            "SUBQUERY(tags, $x1, SUBQUERY($x1.things, $x2, $x2 != SELF AND $x2.name == 'x').@count > 1).@count > 1"
        ),
        ("tags.@sum.rank > 3", "tags.@sum.rank > 3"), ("average(tags.rank) > 3", "tags.@avg.rank > 3.0"),
        ("tags.@distinctUnionOfObjects.label.@count = 2", "tags.@distinctUnionOfObjects.label.@count == 2"),
        ("tags.things.@sum.weight > 3", "tags.things.@sum.weight > 3.0"),
        ("tags.things.@count > 3", "tags.things.@count > 3"),
        ("owner.things.@max.made < '2001-01-02'", "owner.things.@max.made < CAST(86400.0, 'NSDate')"),
        ("ANY labels == 'x'", "ANY labels == 'x'"), ("labels.city == 'x'", "CAST(labels.city, 'string') == 'x'"),
        ("SUBQUERY(labels, $l, $l > 1.5).@count > 1", "SUBQUERY(labels, $x1, CAST($x1, 'double') > 1.5).@count > 1"),
    ]

    @Test(arguments: formats) func `parsing a printed predicate returns an equal predicate`(
        format: String,
        written: String
    ) throws {
        let condition = try FormatFixtures.condition(format)
        let text = condition.predicateFormat(showingValuesFor: FormatFixtures.thing)
        if !written.isEmpty { #expect(text == written) }
        #expect(try FormatFixtures.condition(text) == condition, "\(text)")
    }

    @Test func `values are hidden by default`() throws {
        let format = "name CONTAINS[cd] 'sesame' AND count IN {1, 2} AND ANY tags.rank > 123 AND owner != NIL"
        let condition = try FormatFixtures.condition(format)
        #expect(
            condition.predicateFormat
                == "name CONTAINS[cd] %@ AND count IN %@ AND ANY tags.rank > %@ AND owner != NIL"
        )
        #expect(
            try FormatFixtures.condition(condition.predicateFormat, "sesame", [1, 2], 123) == condition
        )
    }
}
