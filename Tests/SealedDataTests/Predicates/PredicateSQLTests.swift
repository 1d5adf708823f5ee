import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData
@testable import SealedStore

/// Every construct of predicates: the Swift form, its SQL, and the people that it finds.
@Suite("Predicates as SQL")
struct PredicateSQLTests: PredicateChecks {
    typealias Person = Society.Person

    /// The condition after WHERE, with unqualified names of the root's columns.
    private func sql(_ predicate: Predicate<Person>) throws -> String {
        let model = try Schema([Person.self]).makeModel().model
        let entity = try #require(model.entitiesByName["Person"])
        var generator = QueryGenerator(StoreSchema(model: model), root: entity)
        let condition = try PredicateReader(model: model).read(predicate, entity: entity)
        return try generator.condition(condition, mayBeNull: true)
    }

    /// Checks the results and the SQL of a construct.
    private func check(
        _ predicate: Predicate<Person>,
        _ expectedSQL: String,
        _ expectedNames: [String],
        location: SourceLocation = #_sourceLocation
    ) throws {
        let text = try sql(predicate).replacing("t0.", with: "").replacing("\"", with: "")
        #expect(text == expectedSQL, sourceLocation: location)
        let found = try names(predicate, location: location)
        #expect(found == expectedNames, sourceLocation: location)
    }

    @Test func `comparisons`() throws {
        try check(
            #Predicate { $0.age == 30 },
            "(age = ?)",
            ["Ann"]
        )
        try check(
            #Predicate { $0.age != 30 },
            "(age IS NOT ?)",
            ["Bob", "eve"]
        )
        try check(
            #Predicate { $0.age < 30 },
            "(age < ?)",
            ["eve"]
        )
        try check(
            #Predicate { $0.age >= 30 },
            "(age >= ?)",
            ["Ann", "Bob"]
        )
        try check(
            #Predicate { $0.nickname == nil },
            "(nickname IS NULL)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.nickname != "Annie" },
            "(nickname IS NOT ?)",
            ["Bob", "eve"]
        )
        try check(
            #Predicate { $0.employer == nil },
            "(employer IS NULL)",
            ["eve"]
        )
        try check(
            #Predicate { $0.visits > 8 },
            "((visits < ?) OR (visits > ?))",
            ["Ann", "eve"]
        )
    }

    @Test func `logic`() throws {
        try check(
            #Predicate { $0.isActive },
            "(isActive = ?)",
            ["Ann", "eve"]
        )
        try check(
            #Predicate { !$0.isActive },
            "(isActive IS NOT ?)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.isActive && $0.age > 10 },
            "((isActive = ?) AND (age > ?))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.isActive || $0.age > 10 },
            "((isActive = ?) OR (age > ?))",
            ["Ann", "Bob", "eve"]
        )
        try check(
            #Predicate { $0.isActive ? $0.age > 10 : $0.age > 50 },
            "(CASE WHEN (isActive = ?) THEN (age > ?) ELSE (age > ?) END)",
            ["Ann"]
        )
        try check(
            #Predicate { if $0.isActive { $0.age > 10 } else { false } },
            "((isActive = ?) AND (age > ?))",
            ["Ann"]
        )
    }

    @Test func `optionals`() throws {
        try check(
            #Predicate { ($0.nickname ?? $0.name) == "Bob" },
            "(coalesce(nickname, name) = ?)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.nickname?.isEmpty == true },
            "(nickname = ?)",
            ["eve"]
        )
        try check(
            #Predicate { if let nickname = $0.nickname { nickname.contains("n") } else { false } },
            "(instr(nickname, ?) AND query_contains(nickname, ?))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.nickname.flatMap { $0.count } == 5 },
            "(query_length(nickname) = ?)",
            ["Ann"]
        )
    }

    @Test func `arithmetic`() throws {
        try check(
            #Predicate { $0.age + 1 == 31 },
            "(query_add_int64(age, ?) = ?)",
            ["Ann"]
        )
        try check(
            #Predicate { $0.age / 2 * 2 == $0.age },
            "(query_multiply_int64(query_divide_int64(age, ?), ?) IS age)",
            ["Ann", "Bob"]
        )
        try check(
            #Predicate { $0.age % 2 == 1 },
            "(query_remainder_int64(age, ?) = ?)",
            ["eve"]
        )
        try check(
            #Predicate { -$0.age < -30 },
            "(query_negate(age) < ?)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.height * 2 > 3 },
            "((height * ?) > ?)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.balance + 1 > 0 },
            "(query_add_decimal(balance, ?) > ?)",
            ["Ann", "eve"]
        )
        try check(
            #Predicate { $0.isActive && 60 / $0.age == 2 },
            "((isActive = ?) AND (CASE WHEN (isActive = ?) IS NOT TRUE THEN 0 ELSE (query_divide_int64(?, age) = ?) END))",
            ["Ann"]
        )
    }

    @Test func `ranges and lists`() throws {
        let ages = [7, 40]
        let range = 7..<40
        try check(
            #Predicate { (7...30).contains($0.age) },
            "((age >= ?) AND (age <= ?))",
            ["Ann", "eve"]
        )
        try check(
            #Predicate { range.contains($0.age) },
            "((age >= ?) AND (age < ?))",
            ["Ann", "eve"]
        )
        try check(
            #Predicate { ages.contains($0.age) },
            "(age IN (?, ?))",
            ["Bob", "eve"]
        )
        let many = Array(0..<2000)
        try check(
            #Predicate { many.contains($0.age) },
            "(age IN (SELECT value FROM json_each(?)))",
            ["Ann", "Bob", "eve"]
        )
        let names: [String?] = ["Annie", nil]
        try check(
            #Predicate { names.contains($0.nickname) },
            "((nickname IN (?)) OR (nickname IS NULL))",
            ["Ann", "Bob"]
        )
    }

    @Test func `texts`() throws {
        try check(
            #Predicate { $0.name.contains("n") },
            "(instr(name, ?) AND query_contains(name, ?))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.name.starts(with: "A") },
            "(name >= ? AND name < ? AND query_startsWith(name, ?))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.name.localizedStandardContains("N") },
            "(query_localizedContains(name, ?))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.name.caseInsensitiveCompare("EVE").rawValue == 0 },
            "(query_caseInsensitiveCompare(name, ?) = ?)",
            ["eve"]
        )
        try check(
            #Predicate { $0.name.count > 3 },
            "(query_length(name) > ?)",
            []
        )
        try check(
            #Predicate { $0.name.isEmpty },
            "(name = ?)",
            []
        )
        let regex = #/A?nn/#
        try check(
            #Predicate { $0.name.contains(regex) },
            "(query_containsMatch(name, ?))",
            ["Ann"]
        )
    }

    @Test func `enums and composite values`() throws {
        let child = Society.Kind.child
        let high = Society.Rank.high
        try check(
            #Predicate { $0.kind == child },
            "(kind = ?)",
            ["eve"]
        )
        try check(
            #Predicate { $0.kind.rawValue == "child" },
            "(kind = ?)",
            ["eve"]
        )
        try check(
            #Predicate { ($0.rank ?? high) < high },
            "(coalesce(rank, ?) IN (?, ?))",
            ["Bob", "eve"]
        )
        try check(
            #Predicate { $0.address?.city == "Chur" },
            "((query_component(address, ?, 'string') COLLATE query_lexical) = ?)",
            ["Ann"]
        )
        try check(
            #Predicate { $0.tags.contains("a") },
            "(EXISTS (SELECT 1 FROM json_each(query_elements(tags, 'string')) AS t1 WHERE ((CAST(unhex(t1.value) AS TEXT) COLLATE query_lexical) = ?)))",
            ["Ann"]
        )
        try check(
            #Predicate { $0.tags.count == 1 },
            "((CASE WHEN tags IS NULL THEN NULL ELSE (SELECT count(*) FROM json_each(query_elements(tags, 'string')) AS t1) END) = ?)",
            ["Bob", "eve"]
        )
        try check(
            #Predicate { $0.grades["math"] == 6 },
            "(query_component(grades, ?, 'int64') = ?)",
            ["Ann"]
        )
        try check(
            #Predicate { $0.weights.max() == 2 },
            "((SELECT max(query_real(t1.value)) FROM json_each(query_elements(weights, 'double')) AS t1) = ?)",
            ["Ann"]
        )
    }

    @Test func `relationships`() throws {
        try check(
            #Predicate { $0.employer?.name == "Shop" },
            "(t1.name = ?)",
            ["Bob"]
        )
        try check(
            #Predicate { $0.employer?.boss?.age == 30 },
            "(t2.age = ?)",
            ["Ann"]
        )
        try check(
            #Predicate { $0.pets.contains { $0.name == "Cow" } },
            "(EXISTS (SELECT 1 FROM Pet AS t1 WHERE t1.owner = _id AND (t1.name = ?)))",
            ["Bob"]
        )
        try check(
            #Predicate { $0.pets.allSatisfy { $0.weight != nil } },
            "(NOT (EXISTS (SELECT 1 FROM Pet AS t1 WHERE t1.owner = _id AND (t1.weight IS NULL))))",
            ["Bob", "eve"]
        )
        try check(
            #Predicate { $0.pets.filter { $0.weight != nil }.count == 1 },
            "((SELECT count(*) FROM Pet AS t1 WHERE t1.owner = _id AND (t1.weight IS NOT NULL)) = ?)",
            ["Ann", "Bob"]
        )
        try check(
            #Predicate { $0.pets.isEmpty },
            "(NOT (EXISTS (SELECT 1 FROM Pet AS t1 WHERE t1.owner = _id)))",
            ["eve"]
        )
        try check(
            #Predicate { $0.pets.count > 1 },
            "((SELECT count(*) FROM Pet AS t1 WHERE t1.owner = _id) > ?)",
            ["Ann"]
        )
        try check(
            #Predicate { ($0.employer?.staff.count ?? 0) == 1 },
            "(coalesce((CASE WHEN employer IS NULL THEN NULL ELSE (SELECT count(*) FROM Person AS t1 WHERE t1.employer = employer) END), ?) = ?)",
            ["Ann", "Bob"]
        )
    }
}
