import QueryLanguage
import TestSupport
import Testing

@Suite("Errors in predicate formats") struct FormatErrorTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let format: String
        let kind: PredicateFormatError.Kind
        let place: Range<Int>
        let message: String

        init(_ format: String, _ kind: PredicateFormatError.Kind, _ place: Range<Int>, _ message: String) {
            self.format = format
            self.kind = kind
            self.place = place
            self.message = message
        }

        var testDescription: String { format }
    }

    static let mistakes: [Mistake] = [
        // Syntax errors.
        .init("", .syntax, 0..<0, "expected a property, a value or a condition, but the predicate ends"),
        .init("name ==", .syntax, 7..<7, "but the predicate ends"),
        .init("name == 'x' name", .syntax, 12..<16, "expected AND, OR or the end, not 'name'"),
        .init("(name == 'x'", .syntax, 12..<12, "expected ')' at the end of the parentheses"),
        .init("name == 'x", .syntax, 8..<10, "unterminated text"),
        .init("name == 'a\\qb'", .syntax, 10..<12, "unknown escape sequence"),
        .init("name == '\\u12'", .syntax, 9..<13, "expected the number of a character, with 4 digits"),
        .init("count == 12x", .syntax, 9..<12, "a number cannot contain 'x'"),
        .init("count == 0x", .syntax, 9..<11, "expected a whole number in the base 16"),
        .init("count == 1e", .syntax, 9..<11, "expected the digits of an exponent"),
        .init("weight == 1e999", .syntax, 10..<15, "the number is too large"),
        .init("like == 'x'", .syntax, 0..<4, "a property of this name is written #like"),
        .init("count = 1 = 2", .syntax, 10..<11, "comparisons cannot be chained"),
        .init("name ==[x] 'a'", .syntax, 8..<9, "there is no option 'x', only c, d, l and n"),
        .init("name IN [1, 2]", .syntax, 9..<10, "lists are written in braces"),
        .init("ANY tags.label", .syntax, 4..<14, "expected a comparison after ANY"),
        .init("count == 1 AND", .syntax, 14..<14, "the predicate ends"),
        .init("name ? 'x'", .syntax, 5..<6, "unexpected '?'"),
        .init("count %y 2", .syntax, 6..<8, "there is no such specifier"),
        .init("count == {1, 2", .syntax, 14..<14, "expected ',' or '}' at the end of the list"),
        .init("abs(1, 2) == 1", .syntax, 0..<9, "'abs' does not take 2 arguments"),
        .init("SUBQUERY(tags, x, x.rank > 1).@count > 0", .syntax, 15..<16, "such as $x"),
        .init("1 + NOT isOld == 2", .syntax, 4..<7, "a negation inside an expression needs parentheses"),
        // Unknown names.
        .init("nmae == 'x'", .unknownName, 0..<4, "entity 'Thing' has no property 'nmae': did you mean 'name'?"),
        .init("owner.agee > 3", .unknownName, 6..<10, "entity 'Person' has no property 'agee': did you mean 'age'?"),
        .init("ANY tags.lable == 'x'", .unknownName, 9..<14, "did you mean 'label'?"),
        .init("name.first == 'x'", .unknownName, 5..<10, "text has no property 'first'"),
        .init("count > $limit", .unknownName, 8..<14, "no value is given for it"),
        .init("celing(weight) > 2", .unknownName, 0..<14, "there is no function 'celing': did you mean 'ceiling'?"),
        .init("tags.@cont > 2", .unknownName, 5..<10, "did you mean '@count'?"),
        .init("made > CAST(1, 'Dtae')", .unknownName, 15..<21, "did you mean 'Date'?"),
        .init("grade == 1", .unknownName, 0..<5, "several entities have a property 'grade', 'Tool', 'Toy'"),
        // Mismatched types.
        .init("name == 3", .mismatchedTypes, 8..<9, "an integer is not a value for 'name', which is text"),
        .init("count == 'three'", .mismatchedTypes, 9..<16, "text is not a value for 'count', which is an integer"),
        .init("name > count", .mismatchedTypes, 7..<12, "'count' is an integer and cannot be compared with 'name'"),
        .init("made > 3", .mismatchedTypes, 7..<8, "is not a value for 'made', which is a date"),
        .init("code == 'x'", .mismatchedTypes, 8..<11, "text is not a value for 'code', which is a UUID"),
        .init("large > -1", .mismatchedTypes, 8..<10, "a negative number is not a value for 'large'"),
        .init("isOld == 2", .mismatchedTypes, 9..<10, "which is a Boolean"),
        .init("isOld > TRUE", .mismatchedTypes, 6..<7, "a Boolean has no order"),
        .init("owner == 3", .mismatchedTypes, 9..<10, "which is an object of entity 'Person'"),
        .init("owner == SELF", .mismatchedTypes, 9..<13, "cannot be compared"),
        .init("tags.label == 'x'", .mismatchedTypes, 0..<10, "put ANY, ALL or NONE before the comparison"),
        .init("ANY owner.name == 'x'", .mismatchedTypes, 4..<14, "ANY needs a to-many relationship or a list"),
        .init("owner.@count > 1", .mismatchedTypes, 6..<12, "'@count' needs a collection"),
        .init("tags.@sum.label > 1", .mismatchedTypes, 5..<9, "'@sum' needs numbers, and here is text"),
        .init("count CONTAINS '1'", .mismatchedTypes, 0..<5, "CONTAINS compares texts, and 'count' is an integer"),
        .init("count ==[c] 1", .mismatchedTypes, 6..<11, "options are for texts"),
        .init("count + 1", .mismatchedTypes, 0..<9, "a condition is needed here, but the calculation is an integer"),
        .init("'x'", .mismatchedTypes, 0..<3, "a condition is needed here, not text"),
        .init("count BETWEEN 3", .mismatchedTypes, 14..<15, "BETWEEN needs a list of two bounds"),
        .init("count == {1, 2}", .mismatchedTypes, 9..<15, "a list or range takes IN, CONTAINS or BETWEEN"),
        .init("name + 1 > 2", .mismatchedTypes, 0..<4, "'name' is text, and a calculation needs numbers"),
        .init(
            "large + count > 1",
            .mismatchedTypes,
            0..<5,
            "an unsigned integer, 'large', is not combined with an integer"
        ),
        .init("labels == labels", .mismatchedTypes, 7..<9, "a composite value is compared with nil, or part by part"),
        .init("length(count) > 1", .mismatchedTypes, 7..<12, "'length' needs text"),
        .init("labels == 'x'", .mismatchedTypes, 10..<13, "which is a composite value"),
        // Features that stores do not support.
        .init("tags[0].label == 'x'", .unsupported, 4..<5, "cannot be reached by their index"),
        .init("tags[FIRST] == NIL", .unsupported, 4..<5, "cannot be reached by their index"),
        .init("count & 4 != 0", .unsupported, 6..<7, "no operations on the bits"),
        .init("count << 2 > 4", .unsupported, 6..<7, "no operations on the bits"),
        .init("$x := 3", .unsupported, 3..<5, "assigns no values"),
        .init("median:(tags.rank) > 1", .unsupported, 0..<18, "a store does not compute 'median:'"),
        .init("FETCH(SELF, SELF, NO).@count > 1", .unsupported, 0..<5, "cannot contain a fetch"),
        .init("name UTI-EQUALS 'x'", .unsupported, 5..<8, "type identifiers"),
        .init("tags.@unionOfObjects.label == 'x'", .unsupported, 5..<20, "'@unionOfObjects'"),
    ]

    @Test(arguments: mistakes) func `an error holds its position`(_ mistake: Mistake) throws {
        let error = try #require(throws: PredicateFormatError.self) {
            try FormatFixtures.condition(mistake.format)
        }
        #expect(error.kind == mistake.kind)
        #expect(error.characterRange == mistake.place)
        #expect(error.description.contains(mistake.message), "\(error.description)")
    }

    @Test func `the excerpt marks the position below the text`() {
        let error = #expect(throws: PredicateFormatError.self) {
            try FormatFixtures.condition("NOT (nmae CONTAINS[cd] %@)", "x")
        }
        #expect(
            error?.description == "entity 'Thing' has no property 'nmae': did you mean 'name'? (at character 5)"
        )
        #expect(
            error?.excerpt == """
                NOT (nmae CONTAINS[cd] %@)
                     ^^^^
                """
        )
    }

    @Test func `positions are given in characters and in bytes`() {
        let error = #expect(throws: PredicateFormatError.self) {
            try FormatFixtures.condition("名前 == '🍵' AND nmae == 1")
        }
        #expect(error?.characterRange == 14..<18)
        #expect(error?.utf8Range == 21..<25)
    }

    @Test func `the excerpt of a long predicate shows the text around the position`() throws {
        let filler = Array(repeating: "count == 1", count: 40).joined(separator: " OR ")
        let error = try #require(throws: PredicateFormatError.self) {
            try FormatFixtures.condition("\(filler) OR\n\tnmae == 1 OR \(filler)")
        }
        let lines = error.excerpt.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].first == "…")
        #expect(lines[0].last == "…")
        #expect(lines[0].count < 140)
        let caret = try #require(lines[1].firstIndex(of: "^"))
        let offset = lines[1].distance(from: lines[1].startIndex, to: caret)
        #expect(lines[0].dropFirst(offset).hasPrefix("nmae"))
    }

    @Test func `neither arguments nor literals of other types are shown in a message`() throws {
        let error = try #require(throws: PredicateFormatError.self) {
            try FormatFixtures.condition("count == %@", "sesame")
        }
        #expect(!error.description.contains("sesame"))
    }

    @Test(
        arguments: [
            "count == 'sesame'", "name == 'sesame' AND nmae == 1", "'sesame'", "name 'sesame'",
            "name == 'sesame' 'sesame'",
            "labels == 'sesame'", "name == 'sesame", "name == '\\q sesame'", "count CONTAINS 'sesame'",
            "CAST(name, 'sesame') == 1", "CAST('sesame', 'Date') > 3", "FUNCTION(name, 'sesame') == 'x'",
            "FUNCTION(SELF, 'isKindOfEntity:', 'sesame')", "'sesame'.first == 1", "name + 'sesame' > 2",
            "name == {'sesame'}",
            "length('sesame', 'sesame') == 1", "sum({'sesame'}) > 1", "ANY 'sesame' == name", "owner == 'sesame'",
            "TERNARY('sesame', 1, 2) == 1", "name == 'sesame' == 'sesame'", "code == 'sesame'",
            "SUBQUERY('sesame', $x, YES)",
        ]
    )
    func `printed errors contain no text of a literal`(format: String) throws {
        let error = try #require(throws: PredicateFormatError.self) { try FormatFixtures.condition(format) }
        var dumped = ""
        dump(error, to: &dumped)
        for text in [error.description, String(reflecting: error), error.message, dumped] {
            #expect(!text.contains("sesame"), "\(text)")
        }
        #expect(error.format == format)
    }
}
