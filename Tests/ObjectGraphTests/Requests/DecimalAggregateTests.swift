import Foundation
@testable import ObjectGraph
import TestSupport
import Testing

@Suite struct DecimalAggregateTests {
    private static let model = Fixtures.model(
        EntityDescription(
            "Booking",
            attributes: [.init("account", .string, isOptional: true), .init("amount", .decimal, isOptional: true)]
        )
    )
    private static let amount = model.path("Booking", "amount")

    private static func decimal(_ text: String) -> Decimal {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))!
    }

    /// A context with bookings of amounts; nil is a booking without an amount.
    private static func context(_ kind: StoreKind, _ amounts: [String?], account: String = "a") throws
        -> ManagedObjectContext
    {
        let context = try TestStore(kind, model).context()
        for amount in amounts {
            context.make(
                "Booking",
                ["account": .text(account), "amount": amount.map { decimal($0).storedValue } ?? .null]
            )
        }
        try context.save()
        return context
    }

    private static func value(
        _ aggregate: QueryExpression.Aggregate,
        _ context: ManagedObjectContext
    ) throws -> Decimal? {
        let request = DictionaryFetchRequest(
            model.entitiesByName["Booking"]!,
            [.init("value", .aggregate(aggregate, of: amount))]
        )
        return Decimal(storedValue: try context.fetchDictionaries(request)[0]["value"])
    }

    @Test(arguments: StoreKind.allCases)
    func `sums and averages are exact`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["0.1", "0.2", nil, "-10.05", "99999999999999999999999999999999999.99"])
        #expect(try Self.value(.sum, context) == Self.decimal("99999999999999999999999999999999990.24"))
        #expect(try Self.value(.average, context) == Self.decimal("24999999999999999999999999999999997.56"))
        #expect(try Self.value(.minimum, context) == Self.decimal("-10.05"))
        #expect(try Self.value(.maximum, context) == Self.decimal("99999999999999999999999999999999999.99"))
    }

    @Test(arguments: StoreKind.allCases)
    func `without amounts the sum is zero and the average NULL`(kind: StoreKind) throws {
        for amounts in [[], [nil, nil]] as [[String?]] {
            let context = try Self.context(kind, amounts)
            #expect(try Self.value(.sum, context) == nil)
            #expect(try Self.value(.average, context) == nil)
            #expect(try Self.value(.minimum, context) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `groups are summed, filtered and sorted by their sums`(kind: StoreKind) throws {
        let context = try Self.context(kind, ["1.5", "2.5"], account: "a")
        for (account, amount) in [("b", "0.01"), ("b", "-3"), ("c", "7"), ("d", "-9")] {
            context.make("Booking", ["account": .text(account), "amount": Self.decimal(amount).storedValue])
        }
        try context.save()
        let sum = QueryExpression.aggregate(.sum, of: Self.amount)
        var request = DictionaryFetchRequest(
            Self.model.entitiesByName["Booking"]!,
            [.init("account", Self.model.path("Booking", "account")), .init("sum", sum)]
        )
        request.propertiesToGroupBy = [Self.model.path("Booking", "account")]
        request.havingPredicate = sum > Self.decimal("-5").storedValue
        request.sort = [QuerySort(sum, ascending: false)]
        let rows = try context.fetchDictionaries(request)
        #expect(rows.map { $0["account"] } == ["c", "a", "b"])
        #expect(rows.map { Decimal(storedValue: $0["sum"]) } == [7, 4, Self.decimal("-2.99")])
    }

    @Test func `a sum does not depend on the order, and partial sums may exceed the range`() throws {
        let context = try Self.context(.sealed, ["1e100", "1e-100", "-1e100", "3"])
        #expect(throws: QueryError.arithmeticOverflow) { try Self.value(.sum, context) }
        context.delete(try context.one("Booking", where: Self.amount == Self.decimal("1e-100").storedValue))
        try context.save()
        #expect(try Self.value(.sum, context) == 3)
        #expect(try Self.value(.average, context) == 1)
    }

    @Test func `a sum out of the range of decimals is an error and never rounded`() throws {
        let largest = "99999999999999999999999999999999999999"
        let context = try Self.context(.sealed, [largest, "0.1"])
        #expect(throws: QueryError.arithmeticOverflow) { try Self.value(.sum, context) }
        #expect(try Self.value(.average, context) == Self.decimal("5e37"))
        let huge = try Self.context(.sealed, [])
        for _ in 0..<2 { huge.make("Booking", ["amount": Decimal.greatestFiniteMagnitude.storedValue]) }
        try huge.save()
        #expect(throws: QueryError.arithmeticOverflow) { try Self.value(.sum, huge) }
    }

    @Test func `averages are rounded to the nearest decimal`() throws {
        #expect(
            try Self.value(.average, Self.context(.sealed, ["1", "1", "0"]))
                == Self.decimal("0." + String(repeating: "6", count: 37) + "7")
        )
        #expect(
            try Self.value(.average, Self.context(.sealed, ["-2", "0", "0"]))
                == Self.decimal("-0." + String(repeating: "6", count: 37) + "7")
        )
        #expect(try Self.value(.average, Self.context(.sealed, ["1e-128", "0", "0"])) == 0)
        #expect(try Self.value(.average, Self.context(.sealed, ["1e-128", "0"])) == Self.decimal("1e-128"))
    }

    @Test func `NaN makes the sum and the average NaN`() throws {
        let context = try Self.context(.sealed, ["1"])
        context.make("Booking", ["amount": Decimal.nan.storedValue])
        try context.save()
        #expect(try Self.value(.sum, context)?.isNaN == true)
        #expect(try Self.value(.average, context)?.isNaN == true)
    }

    @Test func `sums of random numbers equal integer sums`() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            var sum = DecimalSum()
            var expected: Int64 = 0
            let scale = Int.random(in: -60...60, using: &random)
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let number = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
                expected += number
                let isAdded = Self.decimal("\(number)e\(scale)").storedBytes.withUnsafeBytes { sum.add($0) }
                #expect(isAdded)
            }
            #expect(sum.sum == Self.decimal("\(expected)e\(scale)").storedBytes, "\(random)")
        }
    }

    @Test func `numbers with few digits may have the largest magnitude`() {
        for zeros in 0...37 {
            let decimal = Decimal(sign: .minus, exponent: 127, significand: Self.decimal("1e\(zeros)"))
            #expect(Decimal(storedValue: decimal.storedValue) == decimal, "1 with \(127 + zeros) zeros")
            var sum = DecimalSum()
            for _ in 0..<3 { _ = decimal.storedBytes.withUnsafeBytes { sum.add($0) } }
            #expect(sum.sum == (decimal * 3).storedBytes, "3 with \(127 + zeros) zeros")
        }
    }

    @Test func `malformed bytes do not trap`() {
        var random = SeededGenerator(seed: 1)
        for count in 0..<2_000 {
            var sum = DecimalSum()
            let bytes =
                [UInt8.random(in: 0...4, using: &random)]
                + (0..<count % 700).map { _ in
                    UInt8.random(in: 0...101, using: &random)
                }
            _ = bytes.withUnsafeBytes { sum.add($0) }
            _ = (sum.sum, sum.average)
        }
    }
}

extension Decimal {
    /// The stored bytes.
    fileprivate var storedBytes: Data { if case .blob(let data) = storedValue { data } else { Data() } }
}
