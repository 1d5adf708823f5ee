import Foundation
import QueryLanguage
import TestSupport
import Testing

/// The seed is new in each run; `SEED=N swift test --filter FormatFuzzTests` repeats one.
@Suite("Random texts as predicate formats") struct FormatFuzzTests {
    /// The formats that mutations start from.
    static let formats = [
        "name CONTAINS[cd] %@ AND ANY tags.label IN %@",
        "SUBQUERY(tags, $t, $t.rank > 1 AND $t.label == name).@count > 2",
        "(count + 1) * 2 ** 3 BETWEEN {1, 10} OR NOT isOld == YES", "TERNARY(count > 1, name, owner.name) LIKE 'a*?'",
        "owner.things.@sum.weight >= 1.5e3 && ALL tags.rank != 0x1F", "made < CAST(12.5, 'NSDate') || #in MATCHES '.*'",
        "FUNCTION(SELF, 'isKindOfEntity:', 'Tool') AND add:to:(count, 1) == 2", "NONE tags.things.owner.age <> $age",
        "price IN {1, 2.5, %@, NIL} AND code != '%K' AND %K == %d", "CAST(SELF, 'Tool').grade == 1",
        "tags.@distinctUnionOfObjects.label.@count =< -3", "名前 ENDSWITH \"\\u00e9\\n\" AND first\\u0020name == ''",
    ]

    private static let pieces = [
        "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "%@", "%K", "%", "$", "#", "@", ".", ",", ":", "=", "!", "<",
        ">", "-",
        " AND ", " OR ", "NOT ", "ANY ", "SELF", "NIL", "TRUE", "1", "0x", "1e", "name", "tags", "owner", "count", "\0",
        "\u{301}",
        "🍵", "\u{FEFF}", "\u{A0}", "SUBQUERY(", "CAST(", "TERNARY(", "IN ", "BETWEEN ", "&&", "||", "**", "%%",
    ]

    @Test func `no mutation of a format traps, and every error has a position in it`() {
        var generator = SeededGenerator()
        print(generator)
        var understood = 0
        for _ in 0..<4_000 {
            let format = Self.mutation(&generator)
            do {
                _ = try QueryExpression(
                    format: format,
                    arguments: ["name", 2, nil],
                    variables: ["age": 3],
                    entity: FormatFixtures.thing
                )
                understood += 1
            } catch {
                let range = error.utf8Range
                #expect(range.upperBound <= format.utf8.count, "\(generator): \(format.debugDescription)")
                #expect(!error.description.isEmpty)
            }
        }
        #expect(understood < 4_000)
    }

    private static func mutation(_ generator: inout SeededGenerator) -> String {
        var scalars = Array(formats.randomElement(using: &generator)!.unicodeScalars)
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0...scalars.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: scalars.insert(contentsOf: pieces.randomElement(using: &generator)!.unicodeScalars, at: place)
            case 1:
                let end = min(scalars.count, place + Int.random(in: 1...8, using: &generator))
                scalars.removeSubrange(place..<end)
            case 2:
                let other = Array(formats.randomElement(using: &generator)!.unicodeScalars)
                let start = Int.random(in: 0..<other.count, using: &generator)
                scalars.insert(contentsOf: other[start...], at: place)
            default:
                guard place < scalars.count else { continue }
                scalars[place] = Unicode.Scalar(UInt32.random(in: 1...0x17F, using: &generator)) ?? "x"
            }
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    @Test(arguments: [
        "(", "NOT ", "{", "abs(", "-", "name.", "SUBQUERY(tags, $t, ", "1 + ", "2 ** ", "TERNARY(", "ANY ", "!",
    ])
    func `nesting of every kind is limited`(piece: String) {
        for count in [1_000, 100_000] {
            let format = String(repeating: piece, count: count) + "count == 1"
            #expect(throws: PredicateFormatError.self) { try FormatFixtures.condition(format) }
        }
    }

    @Test func `a predicate nested deeper than stores evaluate is refused`() throws {
        func nested(_ depth: Int) throws -> QueryExpression {
            let opening = String(repeating: "NOT (", count: depth)
            return try FormatFixtures.condition(opening + "count == 1" + String(repeating: ")", count: depth))
        }
        _ = try nested(20)
        let error = #expect(throws: PredicateFormatError.self) { try nested(200) }
        #expect(error?.kind == .tooComplex)
        let sum = try #require(throws: PredicateFormatError.self) {
            try FormatFixtures.condition("count == 1" + String(repeating: " + 1", count: 500))
        }
        #expect(sum.kind == .tooComplex)
    }

    @Test func `width is not limited`() throws {
        let list = (0..<20_000).map(String.init).joined(separator: ", ")
        let condition = try FormatFixtures.condition("count IN {\(list)}")
        guard case .isMember(_, let values) = condition else {
            Issue.record("no list")
            return
        }
        #expect(values.count == 20_000)
        let alternatives = try FormatFixtures.condition((0..<5_000).map { "count > \($0)" }.joined(separator: " OR "))
        guard case .or(let parts) = alternatives else {
            Issue.record("no alternatives")
            return
        }
        #expect(parts.count == 5_000)
        let equalities = try FormatFixtures.condition((0..<5_000).map { "count == \($0)" }.joined(separator: " OR "))
        #expect(equalities == .isMember(FormatFixtures.path("count"), of: (0..<5_000).map { .integer($0) }))
    }

    @Test func `parsing takes little stack`() async {
        // Unoptimized code takes several times the stack of optimized code, which fits threads of half a megabyte.
        let format = String(repeating: "NOT (", count: 200)
        let failed = await withCheckedContinuation { continuation in
            let thread = Thread {
                let error = #expect(throws: PredicateFormatError.self) { try FormatFixtures.condition(format) }
                continuation.resume(returning: error?.kind == .tooComplex)
            }
            thread.stackSize = 2 * 1024 * 1024
            thread.start()
        }
        #expect(failed)
    }
}
