import Foundation
import SealedData
import Testing

/// Aggregates and calculations with numbers at the limits of their types, before and after a save.
@Suite("Calculations with extreme numbers") struct ExtremeNumberTests {
    @Model
    final class Reading {
        var name: String
        var real: Double
        var ratio: Float?
        var code: UInt64
        var word: UInt?
        var left: Decimal
        var right: Decimal

        init(_ name: String, real: Double = 1, code: UInt64 = 0, left: Decimal = 1, right: Decimal = 1) {
            self.name = name
            self.real = real
            ratio = Float(real)
            self.code = code
            word = UInt(code)
            self.left = left
            self.right = right
        }
    }

    private let context: ModelContext

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Reading.self, configurations: configuration))
    }

    private func insert(_ readings: [Reading]) {
        for reading in readings { context.insert(reading) }
    }

    /// Runs checks on unsaved models, and on the same models after a save.
    private func onBothPaths(_ checks: () throws -> Void) throws {
        try checks()
        try context.save()
        try checks()
    }

    private func names(_ predicate: Predicate<Reading>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }

    private func names(sortedBy sort: SortExpression<Reading>) throws -> [String] {
        var descriptor = FetchDescriptor<Reading>()
        descriptor.sortExpressions = [sort]
        return try context.fetch(descriptor).map(\.name)
    }

    // MARK: Computed NaN

    @Test(arguments: [[Double.infinity, -.infinity, 1, 2], [.infinity], [1, .infinity, -3]])
    func `a minimum, a maximum and a distinct count leave out what is not a number`(reals: [Double]) throws {
        insert(reals.enumerated().map { Reading("\($0)", real: $1) })
        let product = #Expression<Reading, Double> { $0.real * 0.0 }
        let finite = reals.count(where: \.isFinite)
        try onBothPaths {
            let (count, distinctCount, minimum, maximum) = try context.aggregate(
                Reading.self,
                .count(of: product),
                .distinctCount(of: product),
                .minimum(of: product),
                .maximum(of: product)
            )
            #expect(count == reals.count)
            #expect(distinctCount == min(finite, 1))
            #expect(minimum == (finite > 0 ? 0 : nil))
            #expect(maximum == (finite > 0 ? 0 : nil))
        }
    }

    // MARK: Decimals

    @Test func `products below the smallest decimal are rounded`() throws {
        let tiny = try #require(Decimal(string: "1e-100"))
        let smallest = try #require(Decimal(string: "-1e-128"))
        insert([
            Reading("a", left: tiny, right: tiny),
            Reading("b", left: smallest, right: Decimal(0.5)),
            Reading("c", left: smallest, right: smallest), Reading("d"),
        ])
        let (zero, one) = (Decimal(0), Decimal(1))
        let isSmall = #Predicate<Reading> { $0.name != "d" }
        let product = #Expression<Reading, Decimal> { $0.left * $0.right }
        try onBothPaths {
            #expect(try names(#Predicate { $0.left * $0.right < one }) == ["a", "b", "c"])
            #expect(try names(#Predicate { $0.left * $0.right == zero }) == ["a", "c"])
            #expect(try names(#Predicate { $0.left * $0.right < tiny * tiny }) == ["b"])
            #expect(try names(sortedBy: SortExpression(product)).first == "b")
            let (least, sum) = try context.aggregate(
                Reading.self,
                .minimum(of: product),
                .sum(of: product),
                where: isSmall
            )
            #expect(least == smallest)
            #expect(sum == smallest)
        }
    }

    @Test func `an expression is written in the call`() throws {
        insert([Reading("a", real: 2), Reading("b", real: 3)])
        try onBothPaths {
            #expect(try context.aggregate(Reading.self, .sum(of: #Expression<Reading, Double> { $0.real * 2 })) == 10)
            let name = try context.aggregate(
                Reading.self,
                .maximum(of: #Expression<Reading, String> { $0.name }),
                where: #Predicate { $0.real < 3 }
            )
            #expect(name == "a")
        }
    }

    // MARK: Unsigned integers

    @Test func `the average of unsigned integers is that of their values`() throws {
        let codes: [UInt64] = [.max, 1 << 63, 5]
        insert(codes.enumerated().map { Reading("\($0)", code: $1) })
        let expected = codes.map { Double($0) }.reduce(0, +) / 3
        let code = #Expression<Reading, UInt64> { $0.code }
        try onBothPaths {
            let (average, words, computed) = try context.aggregate(
                Reading.self,
                .average(\.code),
                .average(\.word),
                .average(of: code)
            )
            #expect(average == expected)
            #expect(words == expected)
            #expect(computed == expected)
            let groups = try context.aggregate(
                Reading.self,
                groupedBy: \.name,
                computing: .average(\.code),
                having: .average(\.code) > 1e18
            )
            #expect(groups.map(\.0) == ["0", "1"])
        }
    }

    // MARK: Infinity

    @Test func `the sum of positive and negative infinity is NaN`() throws {
        insert([Reading("a", real: .infinity), Reading("a", real: -.infinity), Reading("a"), Reading("b", real: 2)])
        let half = #Expression<Reading, Double> { $0.real / 2 }
        try onBothPaths {
            let (sum, average, ratios, halves) = try context.aggregate(
                Reading.self,
                .sum(\.real),
                .average(\.real),
                .sum(\.ratio),
                .sum(of: half)
            )
            #expect(sum.isNaN)
            #expect(average?.isNaN == true)
            #expect(ratios.isNaN)
            #expect(halves.isNaN)
        }
    }

    @Test func `the sum of values of which one is NaN is NaN`() throws {
        insert([Reading("a", real: 0), Reading("a", real: 1), Reading("b", real: 1)])
        let zero = 0.0
        let quotient = #Expression<Reading, Double> { $0.real * zero / ($0.real * zero) }
        try onBothPaths {
            let (count, sum) = try context.aggregate(Reading.self, .count(of: quotient), .sum(of: quotient))
            #expect(count == 3)
            #expect(sum.isNaN)
        }
    }

    @Test func `groups can have NaN as a sum, which has no order`() throws {
        insert([Reading("a", real: .infinity), Reading("a", real: -.infinity), Reading("b", real: 2)])
        try onBothPaths {
            let groups = try context.aggregate(
                Reading.self,
                groupedBy: \.name,
                computing: .sum(\.real),
                .average(\.real),
                sortBy: [AggregateSort(.sum(\.real))]
            )
            #expect(groups.map(\.0) == ["a", "b"])
            #expect(groups.first?.1.isNaN == true)
            #expect(groups.first?.2?.isNaN == true)
            #expect(groups.last?.1 == 2)
            let ordered = try context.aggregate(
                Reading.self,
                groupedBy: \.name,
                computing: .count(),
                having: .sum(\.real) >= 0
            )
            #expect(ordered.map(\.0) == ["b"])
            let different = try context.aggregate(
                Reading.self,
                groupedBy: \.name,
                computing: .count(),
                having: .sum(\.real) != 2
            )
            #expect(different.map(\.0) == ["a"])
        }
    }

    @Test func `the sum of no values stays zero, and the average nil`() throws {
        insert([Reading("a")])
        try onBothPaths {
            let (sum, average) = try context.aggregate(
                Reading.self,
                .sum(\.real),
                .average(\.real),
                where: #Predicate { $0.name == "b" }
            )
            #expect(sum == 0)
            #expect(average == nil)
        }
    }
}
