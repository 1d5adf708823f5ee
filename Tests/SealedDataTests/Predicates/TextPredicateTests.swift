import Foundation
import RegexBuilder
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

    @Test func `localizedStandardContains ignores case and accents`() throws {
        #expect(try names(#Predicate { $0.name.localizedStandardContains("E") }) == ["eve"])
        #expect(try names(#Predicate { $0.nickname?.localizedStandardContains("ÁNN") == true }) == ["Ann"])
    }

    @Test func `caseInsensitiveCompare ignores case`() throws {
        let same = ComparisonResult.orderedSame
        #expect(try names(#Predicate { $0.name.caseInsensitiveCompare("EVE") == same }) == ["eve"])
    }

    @Test func `contains accepts a regular expression`() throws {
        #expect(try names(#Predicate { $0.name.contains(/n+$/) }) == ["Ann"])
        let any = Regex {
            Anchor.startOfSubject
            One(.any)
            OneOrMore(.anyNonNewline)
            "b"
        }
        #expect(try names(#Predicate { $0.name.contains(any) }) == ["Bob"])
        let choice = Regex {
            "e"
            OneOrMore { /v|x/ }
            "e"
        }
        #expect(try names(#Predicate { $0.name.contains(choice) }) == ["eve"])
        #expect(try names(#Predicate { "Ann".contains(choice) || $0.age == 7 }) == ["eve"])
    }

    @Test func `a regular expression without a pattern is refused`() throws {
        let scalars = Regex { "e" }.matchingSemantics(.unicodeScalar)
        let part = try #require(refusal(of: #Predicate { $0.name.contains(scalars) }))
        #expect(part == "a regular expression with a part that has no form in a pattern")
    }

    @Test func `a regular expression that exceeds the step limit is an error in a store too`() throws {
        let container = try ModelContainer(
            for: Society.Person.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        context.insert(Society.Person(String(repeating: "a", count: 5000)))
        try context.save()
        let descriptor = FetchDescriptor<Society.Person>(predicate: #Predicate { $0.name.contains(/(a+)+\1b/) })
        #expect(throws: QueryError.expensivePattern) { try context.fetch(descriptor) }
        #expect(throws: QueryError.expensivePattern) { try ModelContext(container).fetchCount(descriptor) }
        let linear = FetchDescriptor<Society.Person>(predicate: #Predicate { $0.name.contains(/(a+)+b/) })
        #expect(try context.fetchCount(linear) == 0)
    }
}
