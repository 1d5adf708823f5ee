import Foundation
@testable import QueryLanguage
import Testing

/// Durations, which are stored as whole numbers of nanoseconds.
@Suite struct DurationTests {
    @Test(
        arguments: [
            .zero, .nanoseconds(1), .nanoseconds(-1), .seconds(1.5), .nanoseconds(Int64.min), .nanoseconds(Int64.max),
            .seconds(-9_223_372_036) - .nanoseconds(854_775_807),
        ] as [Duration]
    )
    func `a whole number of nanoseconds is stored exactly`(_ duration: Duration) throws {
        #expect(Duration(storedValue: try duration.storedValue) == duration)
    }

    @Test(arguments: [
        Duration(secondsComponent: 0, attosecondsComponent: 1), .seconds(1.1),
        Duration(secondsComponent: -1, attosecondsComponent: -1), .nanoseconds(Int64.max) + .nanoseconds(1),
        .nanoseconds(Int64.min) - .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.min),
    ])
    func `a duration that would change is refused`(_ duration: Duration) {
        #expect(throws: UnstorableValue(.duration)) { try duration.storedValue }
    }

    @Test func `the average of durations is rounded to a nanosecond`() throws {
        let values = [1, 2, 2].map(Value.integer)
        #expect(try QueryExpression.Aggregate.average.apply(values, of: .duration) == .integer(2))
        #expect(try QueryExpression.Aggregate.sum.apply(values, of: .duration) == .integer(5))
        let large = [Int64.max, .max].map(Value.integer)
        #expect(try QueryExpression.Aggregate.average.apply(large, of: .duration) == .integer(.max))
        #expect(throws: QueryError.arithmeticOverflow) {
            try QueryExpression.Aggregate.sum.apply(large, of: .duration)
        }
    }

    // MARK: Predicate formats

    private static let entity = try! ManagedObjectModel(entities: [
        EntityDescription("Song", attributes: [.init("length", .duration), .init("parts", .composite)])
    ]).entities[0]

    private func condition(_ format: String, _ arguments: Any?...) throws -> QueryExpression {
        try QueryExpression(format: format, arguments: arguments, entity: Self.entity)
    }

    @Test func `a format compares durations with arguments and constants`() throws {
        let path = QueryExpression.path(Self.entity.propertiesByName["length"]!)
        let expected = QueryExpression.comparison(.less, path, .literal(.integer(1_500_000_000)))
        #expect(try condition("length < %@", Duration.seconds(1.5)) == expected)
        #expect(try condition("length < CAST(1500000000, 'Duration')") == expected)
        let text = expected.predicateFormat(showingValuesFor: Self.entity)
        #expect(text == "length < CAST(1500000000, 'Duration')")
        #expect(try condition(text) == expected)
    }

    @Test(arguments: ["length < 5", "length + length > %@", "length < 'x'", "abs(length) == %@"])
    func `a duration is no number`(_ format: String) {
        #expect(throws: PredicateFormatError.self) { try condition(format, Duration.seconds(1)) }
    }

    @Test func `an argument that cannot be stored is refused without its value`() {
        let error = #expect(throws: PredicateFormatError.self) { try condition("length < %@", Duration.seconds(1.1)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("'Duration'"))
    }

    @Test func `a duration in a JSON text is read as Codable writes it`() throws {
        let durations: [Duration] = [.seconds(-1.5), .zero, .seconds(Int64.max)]
        let text = JSONText(String(decoding: try JSONEncoder().encode(durations), as: UTF8.self))
        #expect(text.value(at: [.index(0)], as: .duration) == .integer(-1_500_000_000))
        #expect(text.value(at: [.index(1)], as: .duration) == .integer(0))
        #expect(text.value(at: [.index(2)], as: .duration) == .null)
        #expect(JSONText("[5]").value(at: [.index(0)], as: .duration) == .null)
    }
}
