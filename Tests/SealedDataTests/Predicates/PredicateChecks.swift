import Foundation
import Testing

@testable import ObjectGraph
@testable import SealedData

/// Objects that differ in every property that the tests use, nils included.
struct SampleSociety {
    let people: [Society.Person]
    let bureau: Society.Company
    let shop: Society.Company
    let cat: Society.Pet

    init() {
        bureau = Society.Company("Bureau", isPublic: true)
        shop = Society.Company("Shop")
        cat = Society.Pet("Cat", weight: 4)
        let ann = Society.Person("Ann", age: 30)
        ann.nickname = "Annie"
        ann.isActive = true
        ann.isMember = true
        ann.birthday = Date(timeIntervalSinceReferenceDate: 1000)
        ann.rank = .high
        ann.balance = Decimal(string: "10.50")!
        ann.visits = .max
        ann.weight = 60.1
        ann.site = URL(string: "https://example.org/ann")
        ann.photo = Data([1, 2, 3])
        ann.employer = bureau
        ann.pets = [cat, Society.Pet("Dog")]
        let bob = Society.Person("Bob", age: 40)
        bob.height = 1.9
        bob.isMember = false
        bob.kind = .guest
        bob.rank = .low
        bob.balance = -3
        bob.visits = 7
        bob.employer = shop
        bob.pets = [Society.Pet("Cow", weight: 300)]
        bob.address = Society.Address(city: "Bern")
        let eve = Society.Person("eve", age: 7)
        eve.nickname = ""
        eve.isActive = true
        eve.kind = .child
        eve.rank = .middle
        eve.visits = 1 << 63
        ann.address = Society.Address(
            city: "Chur",
            floor: 3,
            isWork: true,
            moved: Date(timeIntervalSinceReferenceDate: 0.1)
        )
        ann.tags = ["a", "b\u{0}c", "Zoë"]
        ann.scores = [1, 5, 9]
        ann.weights = [0.1, 2]
        ann.prices = [Decimal(string: "0.1")!, Decimal(string: "123456789.123456789")!]
        ann.grades = ["math": 6, "art \"x\"": 4]
        ann.formerAddresses = [Society.Address(city: "Bern"), Society.Address(city: "Basel", floor: 9)]
        ann.mood = .glad
        ann.level = 100
        bob.tags = ["b"]
        bob.scores = []
        bob.level = -100
        eve.grades = ["math": 3]
        eve.tags = ["zoe\u{308}"]
        bureau.boss = ann
        people = [ann, bob, eve]
    }

    var ann: Society.Person { people[0] }
    var bob: Society.Person { people[1] }
    var eve: Society.Person { people[2] }
}

/// A suite of tests with predicates about the sample society.
protocol PredicateChecks {}

extension PredicateChecks {
    /// The entity of the sample people, which are in no container.
    var entity: Entity { DetachedEntities.entity(for: Society.Person.self) }

    /// A reader for the model of the classes.
    var reader: PredicateReader {
        get throws { PredicateReader(model: try Schema([Society.Person.self]).makeModel().model) }
    }

    /// The expression that a predicate is translated into.
    func read(_ predicate: Predicate<Society.Person>) throws -> QueryExpression {
        try reader.read(predicate, entity: entity)
    }

    /// The names of the people for whom a translated predicate is true.
    func found(_ predicate: Predicate<Society.Person>) throws -> [String] { try found(SampleSociety(), predicate) }

    /// The names of the people of a society for whom a translated predicate is true.
    func found(_ society: SampleSociety, _ predicate: Predicate<Society.Person>) throws -> [String] {
        let condition = try read(predicate)
        return try society.people.filter { try QueryEvaluator().isTrue(condition, for: $0) }.map(\.name)
    }

    /// The names of the people for whom a predicate is true: translated, evaluated by Foundation, and in SQL; all must
    /// agree.
    @discardableResult
    func names(
        _ predicate: Predicate<Society.Person>,
        location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let society = SampleSociety()
        let expected = try names(society, predicate, location: location)
        let fetched = try fetch(society, predicate)
        let outline = try read(predicate).outline
        #expect(fetched.sorted() == expected.sorted(), "in SQL, read as \(outline)", sourceLocation: location)
        return expected
    }

    /// The names of the people of a society.
    @discardableResult
    func names(
        _ society: SampleSociety,
        _ predicate: Predicate<Society.Person>,
        location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let answer = try found(society, predicate)
        let expected = try society.people.filter { try predicate.evaluate($0) }.map(\.name)
        let outline = try read(predicate).outline
        #expect(answer == expected, "read as \(outline)", sourceLocation: location)
        return answer
    }

    /// The names of the people that a store finds after inserting the sample.
    private func fetch(_ society: SampleSociety, _ predicate: Predicate<Society.Person>) throws -> [String] {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: Society.Person.self, configurations: configuration)
        let context = ModelContext(container)
        for person in society.people { context.insert(person) }
        try context.save()
        return try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
    }

    /// The part of a predicate that the reader's error names.
    func refusal(of predicate: Predicate<Society.Person>) -> String? {
        do {
            _ = try read(predicate)
            return nil
        } catch let error as SwiftDataError where error == .unsupportedPredicate {
            return error.explanation
        } catch {
            return "another error: \(error)"
        }
    }
}

extension QueryExpression {
    /// The expression in a short form: variables as `$0`, constants with their values.
    var outline: String {
        func path(_ start: Int, _ path: [Property]) -> String {
            (["$\(start)"] + path.map(\.name)).joined(separator: ".")
        }
        func list(_ parts: [QueryExpression]) -> String { parts.map(\.outline).joined(separator: ", ") }
        return switch self {
        case .literal(.null): "nil"
        case .literal(.integer(let integer)): "\(integer)"
        case .literal(.real(let real)): "\(real)"
        case .literal(.text(let text)): "\"\(text)\""
        case .literal(let value): "<\(value)>"
        case .parameter(let number, _): "?\(number)"
        case .variable(let variable): "$\(variable)"
        case .path(let start, let properties): path(start, properties)
        case .comparison(let comparison, let left, let right):
            "(\(left.outline) \(comparison.symbol) \(right.outline))"
        case .and(let parts): "and(\(list(parts)))"
        case .or(let parts): "or(\(list(parts)))"
        case .not(let part): "not(\(part.outline))"
        case .isMember(let part, let values): "\(part.outline) in [\(list(values.map { .literal($0) }))]"
        case .arithmetic(let operation, let left, let right): "\(operation)(\(left.outline), \(right.outline))"
        case .conditional(let test, let first, let second): "(\(test.outline) ? \(first.outline) : \(second.outline))"
        case .coalesce(let parts): "coalesce(\(list(parts)))"
        case .function(let function, let arguments): "\(function)(\(list(arguments)))"
        case .element(let variable, _): "$\(variable)"
        case .component(let keys, let whole, _):
            keys.reduce(whole.outline) { outline, key in
                switch key {
                case .name(let name): "\(outline)[\"\(name)\"]"
                case .index(let index): "\(outline)[\(index)]"
                }
            }
        case .quantified(let quantifier, let source, let variable, let condition):
            "\(quantifier) $\(variable) of \(source.outline): \(condition.outline)"
        case .aggregated(let aggregate, let source, let variable, let value, let condition):
            value == source.member(variable)
                ? "\(aggregate)($\(variable) of \(source.outline): \(condition.outline))"
                : "\(aggregate)(\(value.outline), $\(variable) of \(source.outline): \(condition.outline))"
        case .isKind(let start, let properties, let entity): "\(path(start, properties)) is \(entity.name)"
        case .aggregate(let aggregate, let argument): "\(aggregate)(\(argument.outline))"
        }
    }
}

extension CollectionSource {
    fileprivate var outline: String {
        switch self {
        case .members(let start, let properties): QueryExpression.path(from: start, properties).outline
        case .elements(let whole, _): whole.outline
        }
    }
}

extension QueryExpression.Comparison {
    fileprivate var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
