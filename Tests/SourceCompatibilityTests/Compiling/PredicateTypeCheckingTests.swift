import SealedData
import Testing

@Suite("Type-checking predicates")
struct PredicateTypeCheckingTests {
    /// A limit on the work of the type checker for one expression, a fifth of the compiler's limit: all of the
    /// predicates stay below it with Foundation alone. The number of scopes does not depend on the machine.
    private static let limit = ["-Xfrontend", "-solver-scope-threshold=200000"]

    @Test func `predicates take the type checker no more than with Foundation alone`() throws {
        let source = Self.models + Self.function(Self.predicates)
        for (index, predicate) in try failures(in: source).map({ ($0.line, $0.message) }) {
            Issue.record("line \(index): \(predicate)")
        }
    }

    @Test func `predicates with captured models are within the limit too`() throws {
        let source = Self.models + Self.function(Self.captures)
        for (index, predicate) in try failures(in: source).map({ ($0.line, $0.message) }) {
            Issue.record("line \(index): \(predicate)")
        }
    }

    @Test func `an error in a predicate is reported at its position`() throws {
        let mistakes = [
            "#Predicate<Person> { $0.nme == name && $0.age > 3 }",
            "#Predicate<Person> { $0.name == 3 }",
            "#Predicate<Person> { $0.friend.name == name }",
            "#Predicate<Person> { $0.age }",
        ]
        let source = Self.models + Self.function(mistakes)
        let first = source.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("nme") }
        let lines = try Compiler.diagnostics(of: source).filter { $0.severity == "error" }.map(\.line)
        #expect(lines == mistakes.indices.map { $0 + (first ?? 0) + 1 })
    }

    private func failures(in source: String) throws -> [Compiler.Diagnostic] {
        try Compiler.diagnostics(of: source, options: Self.limit).filter { $0.severity == "error" }
    }

    private static let models = """
        import SealedData

        @Model final class Person {
            var name = ""
            var age = 0
            var isActive = true
            var score = 0.5
            var nickname: String?
            var city: String?
            var birth = Date.now
            @Relationship(inverse: nil) var friend: Person?
            @Relationship(inverse: nil) var friends: [Person] = []
            init() {}
        }

        """

    private static func function(_ predicates: [String]) -> String {
        """
        func predicates(
            name: String, low: Int, high: Int, date: Date, tags: [String],
            other: Person, maybe: Person?, people: [Person], set: Set<Person>
        ) {

        """ + predicates.map { "    _ = \($0)\n" }.joined() + "}\n"
    }

    private static let predicates = [
        "#Predicate<Person> { $0.name == name && $0.age > low && $0.age < high && $0.isActive }",
        "#Predicate<Person> { $0.age > 18 && $0.age < 65 && $0.name.contains(\"a\") && $0.score >= 1.5 }",
        "#Predicate<Person> { $0.name == \"a\" || $0.name == \"b\" || $0.name == \"c\" || $0.name == \"d\" }",
        "#Predicate<Person> { $0.age == 1 || $0.age == 2 || $0.age == 3 || $0.age == 4 }",
        """
        #Predicate<Person> { person in
            if let nick = person.nickname {
                if let city = person.city { nick == city && nick.count > 2 } else { false }
            } else { false }
        }
        """,
        """
        #Predicate<Person> { person in
            if let friend = person.friend {
                if let second = friend.friend { second.age > low && second.name == name } else { friend.age > 2 }
            } else { person.age < 3 }
        }
        """,
        "#Predicate<Person> { $0.friend?.friend?.friend?.name == name }",
        "#Predicate<Person> { ($0.friend?.nickname?.count ?? 0) > low }",
        "#Predicate<Person> { ($0.nickname ?? \"\") == name && !$0.isActive }",
        "#Predicate<Person> { $0.friends.contains { $0.age > low && $0.name == name && $0.isActive } && $0.age < 80 }",
        "#Predicate<Person> { $0.friends.filter { $0.age > 18 }.count > 3 || $0.friends.isEmpty || $0.name.isEmpty }",
        "#Predicate<Person> { $0.birth > date && $0.birth < date && tags.contains($0.name) && $0.score > 0 }",
        """
        #Predicate<Person> {
            (name.isEmpty || $0.name.localizedStandardContains(name)) && (low == 0 || $0.age > low)
                && ($0.nickname == nil || $0.nickname == name)
        }
        """,
        "#Predicate<Person> { $0.friends.allSatisfy { $0.friends.contains { $0.age == low } } }",
        "#Predicate<Person> { ($0.age > low ? $0.name : \"x\") == name && $0.age != 4 }",
        "#Predicate<Person> { (low...high).contains($0.age) && $0.name.starts(with: \"a\") && $0.score > 1 }",
        "#Predicate<Person> { !($0.isActive && $0.age > 3) || !($0.name == \"a\" && $0.age < 5) }",
        "#Predicate<Person> { $0.nickname?.contains(\"a\") == true && $0.friend?.isActive == true }",
        "#Predicate<Person> { $0.age + 1 > low && $0.score * 2 > 3.5 }",
        "#Predicate<Person> { $0.friend?.friend?.age == low && $0.friend?.name == name }",
    ]

    private static let captures = [
        "#Predicate<Person> { $0.friend == other }",
        "#Predicate<Person> { $0.friend == maybe && $0.age > 3 && $0.name == name && $0.isActive }",
        "#Predicate<Person> { $0 == other || people.contains($0) }",
        "#Predicate<Person> { set.contains($0) && $0.name == name }",
        "#Predicate<Person> { $0.friends.contains(other) && $0.age > 3 && $0.name == name && $0.isActive }",
        "#Predicate<Person> { $0.friend?.friend == other || $0.friends.contains { $0 == other } }",
        "#Predicate<Person> { person in if let friend = person.friend { friend == other } else { false } }",
        "#Predicate<Person> { $0.friend == other && $0.friend != maybe && $0.age > 3 && people.contains($0) }",
    ]
}
