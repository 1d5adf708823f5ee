import Foundation
import QueryLanguage
import TestSupport
import Testing

@Suite("Arguments of predicate formats") struct FormatArgumentTests {
    private static let path = FormatFixtures.path

    enum Size: Int, Codable { case small = 1, large = 9 }
    enum Word: String { case tea, rice }

    private static func equal(_ name: String, _ value: Value) -> QueryExpression {
        .comparison(.equal, FormatFixtures.path(name), .literal(value))
    }

    @Test func `a value is converted to the type of the attribute that it is compared with`() throws {
        let condition = FormatFixtures.condition
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let uuid = UUID()
        let url = URL(string: "https://example.org/a")!
        #expect(try condition("name == %@", "x") == Self.equal("name", .text("x")))
        #expect(try condition("count == %@", 3) == Self.equal("count", .integer(3)))
        #expect(try condition("count == %@", UInt8(3)) == Self.equal("count", .integer(3)))
        #expect(try condition("weight == %@", 3) == Self.equal("weight", .real(3)))
        #expect(try condition("weight == %@", 0.25) == Self.equal("weight", .real(0.25)))
        #expect(try condition("ratio == 0.1") == Self.equal("ratio", .real(Double(Float(0.1)))))
        #expect(try condition("isOld == %@", true) == Self.equal("isOld", .integer(1)))
        #expect(try condition("large == %@", UInt64.max) == Self.equal("large", .integer(-1)))
        #expect(try condition("price == %@", Decimal(string: "19.99")) == Self.equal("price", .decimal(1999, -2)))
        #expect(try condition("price == %@", 19.99) == Self.equal("price", .decimal(1999, -2)))
        #expect(try condition("price == %@", 20) == Self.equal("price", .decimal(20, 0)))
        #expect(try condition("price == 19.99") == Self.equal("price", .decimal(1999, -2)))
        #expect(try condition("made == %@", date) == Self.equal("made", .real(1.5)))
        #expect(try condition("code == %@", uuid) == Self.equal("code", .uuid(uuid)))
        #expect(try condition("code == %@", uuid.uuidString) == Self.equal("code", .uuid(uuid)))
        #expect(try condition("link == %@", url) == Self.equal("link", .text("https://example.org/a")))
        #expect(try condition("bytes == %@", Data([1, 2])) == Self.equal("bytes", .blob(Data([1, 2]))))
        #expect(try condition("count == %@", Size.large) == Self.equal("count", .integer(9)))
        #expect(try condition("name == %@", Word.rice) == Self.equal("name", .text("rice")))
        #expect(try condition("name == %@", nil) == Self.equal("name", .null))
        #expect(try condition("name == %@", Value.text("x")) == Self.equal("name", .text("x")))
        #expect(try condition("name == %@", Optional<String>.some("x") as Any) == Self.equal("name", .text("x")))
    }

    @Test func `a date can be written in ISO 8601`() throws {
        let day = try FormatFixtures.condition("made >= '2001-01-02'")
        #expect(day == .comparison(.greaterOrEqual, Self.path("made"), .literal(.real(86_400))))
        let time = try FormatFixtures.condition("made >= %@", "2001-01-01T00:00:30Z")
        #expect(time == .comparison(.greaterOrEqual, Self.path("made"), .literal(.real(30))))
    }

    @Test func `a list and a set are lists, and ranges are bounds`() throws {
        let condition = FormatFixtures.condition
        let members: [Value] = [.integer(1), .integer(2)]
        #expect(try condition("count IN %@", [1, 2]) == .isMember(Self.path("count"), of: members))
        #expect(try condition("count IN %@", Set([1])) == .isMember(Self.path("count"), of: [.integer(1)]))
        #expect(try condition("count IN {1, %d}", 2) == .isMember(Self.path("count"), of: members))
        let bounds = QueryExpression.and([
            .comparison(.greaterOrEqual, Self.path("count"), .literal(.integer(1))),
            .comparison(.lessOrEqual, Self.path("count"), .literal(.integer(5))),
        ])
        #expect(try condition("count BETWEEN {1, 5}") == bounds)
        #expect(try condition("count BETWEEN %@", [1, 5]) == bounds)
        #expect(try condition("count BETWEEN %@", 1...5) == bounds)
        #expect(try condition("count IN %@", 1...5) == bounds)
        #expect(
            try condition("weight IN %@", ..<0.5)
                == .comparison(.less, Self.path("weight"), .literal(.real(0.5)))
        )
    }

    @Test func `%K is the name of a property or a key path`() throws {
        #expect(try FormatFixtures.condition("%K == %@", "name", "x") == Self.equal("name", .text("x")))
        let age = QueryExpression.comparison(.greater, Self.path("owner", "age"), .literal(.integer(3)))
        #expect(try FormatFixtures.condition("%K > 3", "owner.age") == age)
        #expect(try FormatFixtures.condition("owner.%K > 3", "age") == age)
        #expect(try FormatFixtures.condition("%K.%K > 3", "owner", "age") == age)
        // No word is reserved in an argument.
        #expect(try FormatFixtures.condition("%K == 'x'", "in") == Self.equal("in", .text("x")))
        #expect(try FormatFixtures.condition("%K == 'x'", "first name") == Self.equal("first name", .text("x")))
    }

    @Test func `arguments can be taken by their positions`() throws {
        let both = try FormatFixtures.condition("name == %2$@ OR owner.name == %2$@ OR count == %1$d", 3, "x")
        #expect(both == (try FormatFixtures.condition("name == 'x' OR owner.name == 'x' OR count == 3")))
    }

    @Test func `variables take values that are given by name`() throws {
        let condition = try QueryExpression(
            format: "count > $LIMIT AND name IN $names",
            variables: ["LIMIT": 3, "names": ["a", "b"]],
            entity: FormatFixtures.thing
        )
        #expect(condition == (try FormatFixtures.condition("count > 3 AND name IN {'a', 'b'}")))
    }

    @Test func `specifiers in quotes are text`() throws {
        #expect(try FormatFixtures.condition("name == '%@'") == Self.equal("name", .text("%@")))
        #expect(try FormatFixtures.condition(#"name == "$x""#) == Self.equal("name", .text("$x")))
    }

    struct Mistake: CustomTestStringConvertible, Sendable {
        let format: String
        let arguments: [any Sendable]
        let message: String

        var testDescription: String { format }
    }

    static let mistakes: [Mistake] = [
        .init(format: "count == %@", arguments: [], message: "argument 1 for %@ is missing: none is given"),
        .init(format: "count IN {%d, %d}", arguments: [1], message: "argument 2 for %d is missing: only 1 is given"),
        .init(format: "count == %d", arguments: [1, 2], message: "argument 2 of 2 is not used"),
        .init(format: "count == %d", arguments: ["x"], message: "argument 1 is text, which %d does not accept"),
        .init(format: "%K == 1", arguments: [3], message: "argument 1 is an integer, which %K does not accept"),
        .init(format: "%K == 1", arguments: ["a..b"], message: "argument 1 is not a key path"),
        .init(format: "count IN {%1$d, %d}", arguments: [1], message: "all arguments have a position, or none"),
        .init(format: "count == %0$d", arguments: [1], message: "the position of an argument is 1 or more"),
        .init(format: "name == %@", arguments: [Character("x")], message: "argument 1 is a value of type 'Character'"),
        .init(format: "weight == %@", arguments: [Double.nan], message: "is not a value for 'weight'"),
    ]

    @Test(arguments: mistakes) func `an argument of a wrong type is an error`(_ mistake: Mistake) throws {
        let error = try #require(throws: PredicateFormatError.self) {
            try QueryExpression(format: mistake.format, arguments: mistake.arguments, entity: FormatFixtures.thing)
        }
        #expect(error.description.contains(mistake.message), "\(error.description)")
    }

    @Test func `text in an argument changes nothing but the value`() throws {
        let attack = "' OR 1 == 1 OR name == '"
        #expect(try FormatFixtures.condition("name == %@", attack) == Self.equal("name", .text(attack)))
        #expect(throws: PredicateFormatError.self) { try FormatFixtures.condition("%K == 'x'", "name == '' OR name") }
    }
}

extension Value {
    /// A decimal with a number of digits behind the point.
    fileprivate static func decimal(_ digits: Int, _ exponent: Int) -> Value {
        Decimal(sign: digits < 0 ? .minus : .plus, exponent: exponent, significand: Decimal(abs(digits))).storedValue
    }
}
