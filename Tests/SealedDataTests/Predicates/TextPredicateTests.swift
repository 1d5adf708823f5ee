import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

@Suite("Text in predicates")
struct TextPredicateTests: PredicateChecks {
    @Test func `a text contains and starts with another`() throws {
        #expect(try read(#Predicate { $0.name.contains("n") }).outline == "contains($0.name, \"n\")")
        #expect(try names(#Predicate { $0.name.contains("n") }) == ["Ann"])
        #expect(try names(#Predicate { !$0.name.contains("n") }) == ["Bob", "eve"])
        #expect(try names(#Predicate { $0.name.starts(with: "B") }) == ["Bob"])
        #expect(try names(#Predicate { "Annie Bobson".contains($0.name) }) == ["Ann", "Bob"])
        #expect(try names(#Predicate { $0.name.contains("") }) == ["Ann", "Bob", "eve"])
    }

    @Test func `a text is empty or has a length`() throws {
        #expect(try names(#Predicate { $0.name.isEmpty }) == [])
        #expect(try names(#Predicate { $0.name.count == 3 }) == ["Ann", "Bob", "eve"])
        #expect(try names(#Predicate { ($0.nickname ?? "").count > 2 }) == ["Ann"])
        #expect(try names(#Predicate { $0.photo?.count == 3 }) == ["Ann"])
    }

    @Test func `a text contains another whatever its case and accents`() throws {
        #expect(try names(#Predicate { $0.name.localizedStandardContains("E") }) == ["eve"])
        #expect(try names(#Predicate { $0.nickname?.localizedStandardContains("ÁNN") == true }) == ["Ann"])
    }

    @Test func `texts are compared whatever their case`() throws {
        let same = ComparisonResult.orderedSame
        #expect(try names(#Predicate { $0.name.caseInsensitiveCompare("EVE") == same }) == ["eve"])
    }
}
