import Foundation
import QueryLanguage
import TestSupport
import Testing

@Suite("Literals in predicate formats") struct FormatLiteralTests {
    private static let path = FormatFixtures.path

    @Test(arguments: [
        ("1", Value.integer(1)), ("0x1F", 31), ("0o17", 15), ("0b101", 5), ("0XfF", 255), ("-7", -7), ("- 7", -7),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)), ("007", 7),
        ("2.0", 2), ("2.5", .real(2.5)), ("1e3", 1000), ("9.2e-5", .real(9.2e-5)), ("1E+2", 100), (".5", .real(0.5)),
        ("TRUE", 1), ("NO", 0), ("NIL", .null), ("null", .null),
    ])
    func `a number is written as in Cocoa`(text: String, value: Value) throws {
        let condition = try FormatFixtures.condition("count == \(text)")
        #expect(condition == .comparison(.equal, Self.path("count"), .literal(value)))
    }

    @Test(arguments: [
        (#"'a'"#, "a"), (#""a""#, "a"), (#"'a "quoted" b'"#, #"a "quoted" b"#), (#""it's""#, "it's"),
        (#"'it\'s'"#, "it's"),
        (#"'a\\b'"#, #"a\b"#), (#"'\n\r\t'"#, "\n\r\t"), (#"'\x41\u00e9\101'"#, "AéA"),
        ("''", ""), ("'🍵 茶'", "🍵 茶"), ("'%@ $x'", "%@ $x"), ("'a\nb'", "a\nb"),
    ])
    func `text is written in quotes of either kind`(literal: String, text: String) throws {
        let condition = try FormatFixtures.condition("name == \(literal)")
        #expect(condition == .comparison(.equal, Self.path("name"), .literal(.text(text))))
    }

    @Test(arguments: [
        ("TRUE", Value.integer(1)), ("YES", 1), ("true", 1), ("1", 1), ("FALSE", 0), ("No", 0), ("0", 0),
        ("NIL", .null),
    ])
    func `a Boolean is a word or a number`(text: String, value: Value) throws {
        let condition = try FormatFixtures.condition("isOld == \(text)")
        #expect(condition == .comparison(.equal, Self.path("isOld"), .literal(value)))
    }

    @Test func `a decimal keeps all written digits`() throws {
        let digits = "12345678901234567890.123456789012345678"
        let decimal = try #require(Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")))
        let condition = try FormatFixtures.condition("price == \(digits)")
        #expect(condition == .comparison(.equal, Self.path("price"), .literal(decimal.storedValue)))
    }

    @Test func `an integer that a double cannot represent is compared exactly`() throws {
        let condition = try FormatFixtures.condition("weight == 9007199254740993")
        #expect(condition == .comparison(.equal, Self.path("weight"), .literal(.integer(9_007_199_254_740_993))))
    }

    @Test func `names may be escaped, reserved or in any script`() throws {
        func equal(_ name: String) -> QueryExpression { .comparison(.equal, Self.path(name), .literal(.text("x"))) }
        #expect(try FormatFixtures.condition("#in == 'x'") == equal("in"))
        #expect(try FormatFixtures.condition("SELF.in == 'x'") == equal("in"))
        #expect(try FormatFixtures.condition("first\\u0020name == 'x'") == equal("first name"))
        #expect(try FormatFixtures.condition("\\x6eame == 'x'") == equal("name"))
        #expect(try FormatFixtures.condition("名前 == 'x'") == equal("名前"))
        #expect(try FormatFixtures.condition("#name == 'x'") == equal("name"))
    }

    @Test func `casts write dates, identifiers, addresses and bytes`() throws {
        func equal(_ name: String, _ value: Value) -> QueryExpression {
            .comparison(.equal, Self.path(name), .literal(value))
        }
        let uuid = UUID()
        #expect(try FormatFixtures.condition("made == CAST(12.5, 'NSDate')") == equal("made", .real(12.5)))
        #expect(try FormatFixtures.condition("made == CAST(12.5, 'Date')") == equal("made", .real(12.5)))
        #expect(try FormatFixtures.condition("code == CAST('\(uuid)', 'NSUUID')") == equal("code", .uuid(uuid)))
        #expect(try FormatFixtures.condition("bytes == CAST('AQI=', 'NSData')") == equal("bytes", .blob(Data([1, 2]))))
        #expect(try FormatFixtures.condition("link == CAST('a:b', 'NSURL')") == equal("link", .text("a:b")))
        #expect(try FormatFixtures.condition("owner == CAST(7, 'Person')") == equal("owner", .integer(7)))
    }

    @Test func `now() is the time of parsing`() throws {
        let before = Date().timeIntervalSinceReferenceDate
        let condition = try FormatFixtures.condition("made < now()")
        let after = Date().timeIntervalSinceReferenceDate
        guard case .comparison(.less, _, .literal(.real(let seconds))) = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect((before...after).contains(seconds))
    }
}
