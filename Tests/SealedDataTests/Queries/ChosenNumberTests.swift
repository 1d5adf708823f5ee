import Foundation
import SealedData
import Testing

/// Numbers whose type appears only in a part of them, such as `price ?? 0`, as operands of calculations.
@Suite("Calculations with chosen numbers") struct ChosenNumberTests {
    struct Offer: Codable, Hashable {
        var price: Decimal?
        var code: UInt64?
    }

    @Model
    final class Line {
        var name: String
        var isFirst = false
        var price: Decimal?
        var quantity: Decimal?
        var code: UInt64?
        var word: UInt?
        var prices: [Decimal] = []
        var codes: [UInt64] = []
        var offer = Offer()
        var total: Decimal = 0

        init(_ name: String, price: Decimal?, quantity: Decimal?, code: UInt64?) {
            self.name = name
            self.price = price
            self.quantity = quantity
            self.code = code
            word = code.map(UInt.init)
            prices = [price, quantity].compactMap(\.self)
            codes = [code].compactMap(\.self)
            offer = Offer(price: price, code: code)
        }
    }

    private let context: ModelContext
    private let lines: [Line]
    private let zero = Decimal(0)
    private let one = Decimal(1)

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Line.self, configurations: configuration))
        lines = [
            Line("a", price: 10, quantity: 3, code: .max), Line("b", price: nil, quantity: 3, code: 5),
            Line("c", price: 10, quantity: nil, code: nil), Line("d", price: -2, quantity: 0, code: 1 << 63),
        ]
        lines[0].isFirst = true
        for line in lines { context.insert(line) }
    }

    /// Runs checks on unsaved models, and on the same models after a save.
    private func onBothPaths(_ checks: () throws -> Void) throws {
        try checks()
        try context.save()
        try checks()
    }

    private func names(_ predicate: Predicate<Line>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }

    private func names(sortedBy sorts: SortExpression<Line>...) throws -> [String] {
        var descriptor = FetchDescriptor<Line>()
        descriptor.sortExpressions = sorts
        return try context.fetch(descriptor).map(\.name)
    }

    /// Expects a store to find the models for which Foundation evaluates the predicate to true.
    private func expectAgreement(
        _ predicate: Predicate<Line>,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try lines.filter { try predicate.evaluate($0) }.map(\.name)
        #expect(try names(predicate) == expected, sourceLocation: location)
    }

    @Test func `the operands of a calculation with decimals are coalesced`() throws {
        let (zero, one) = (zero, one)
        try onBothPaths {
            #expect(try names(#Predicate { ($0.price ?? zero) * ($0.quantity ?? one) > one }) == ["a", "c"])
            try expectAgreement(#Predicate { !(($0.price ?? zero) * ($0.quantity ?? one) > one) })
            try expectAgreement(#Predicate { ($0.price ?? zero) + ($0.quantity ?? one) != one })
            try expectAgreement(#Predicate { ($0.price ?? zero) - ($0.quantity ?? one) < zero })
            try expectAgreement(#Predicate { -($0.price ?? zero) * ($0.quantity ?? one) < zero })
        }
    }

    @Test func `the operands of a calculation with decimals are choices, unwrapped values and largest elements`() throws
    {
        let (zero, one) = (zero, one)
        try onBothPaths {
            try expectAgreement(
                #Predicate { ($0.isFirst ? one : ($0.price ?? zero)) * ($0.isFirst ? one : zero) >= zero }
            )
            try expectAgreement(#Predicate { ($0.isFirst ? one : zero) + ($0.isFirst ? one : zero) > one })
            try expectAgreement(
                #Predicate { line in
                    if let price = line.price { price * (line.quantity ?? one) > one } else { false }
                }
            )
            try expectAgreement(#Predicate { ($0.prices.max() ?? zero) * ($0.prices.min() ?? one) > one })
            try expectAgreement(#Predicate { ($0.offer.price ?? one) * ($0.offer.price ?? zero) > one })
        }
    }

    @Test func `calculations with coalesced unsigned integers are unsigned`() throws {
        let (zero, three, seven): (UInt64, UInt64, UInt64) = (0, 3, 7)
        let (none, two): (UInt, UInt) = (0, 2)
        try onBothPaths {
            #expect(try names(#Predicate { ($0.code ?? zero) / 2 > seven }) == ["a", "d"])
            try expectAgreement(#Predicate { ($0.code ?? zero) % three == zero })
            try expectAgreement(#Predicate { seven % ($0.code ?? three) == seven })
            try expectAgreement(#Predicate { ($0.word ?? none) / two > two })
            try expectAgreement(#Predicate { ($0.word ?? none) % two == none })
            try expectAgreement(#Predicate { ($0.codes.max() ?? zero) / three > seven })
            try expectAgreement(#Predicate { ($0.offer.code ?? zero) / three > seven })
            try expectAgreement(#Predicate { ($0.code.flatMap { $0 / three } ?? zero) > seven })
        }
    }

    @Test func `a choice of unsigned constants is an unsigned number`() throws {
        let (large, three, seven): (UInt64, UInt64, UInt64) = (.max, 3, 7)
        try onBothPaths {
            try expectAgreement(#Predicate { ($0.isFirst ? large : three) / three > seven })
            try expectAgreement(#Predicate { large / ($0.isFirst ? large : three) > seven })
            try expectAgreement(#Predicate { ($0.code ?? ($0.isFirst ? large : three)) / three > seven })
        }
    }

    @Test func `the overflow of an unsigned calculation is an error`() throws {
        let (zero, large): (UInt64, UInt64) = (0, .max)
        try onBothPaths {
            #expect(throws: (any Error).self) { try names(#Predicate { ($0.code ?? zero) + 1 > 6 }) }
            #expect(throws: (any Error).self) { try names(#Predicate { ($0.isFirst ? large : zero) + 1 > 6 }) }
            #expect(throws: (any Error).self) { try names(#Predicate { ($0.name == "a" ? large + 1 : zero) > 6 }) }
        }
    }

    @Test func `aggregates of coalesced numbers have the type of the property`() throws {
        let (zero, one, seven) = (zero, one, UInt64(7))
        let product = #Expression<Line, Decimal> { ($0.price ?? zero) * ($0.quantity ?? one) }
        let price = #Expression<Line, Decimal> { $0.price ?? zero }
        let constant = #Expression<Line, Decimal> { $0.isFirst ? one : zero }
        let code = #Expression<Line, UInt64> { $0.code ?? seven }
        let unlisted = #Expression<Line, UInt64> { $0.isFirst ? 18_446_744_073_709_551_615 : seven }
        try onBothPaths {
            let (sum, prices, average) = try context.aggregate(
                Line.self,
                .sum(of: product),
                .sum(of: price),
                .average(of: price)
            )
            #expect(sum == 40)
            #expect(prices == 18)
            #expect(average == 4.5)
            #expect(try context.aggregate(Line.self, .sum(of: constant)) == 1)
            let (least, most) = try context.aggregate(Line.self, .minimum(of: code), .maximum(of: code))
            #expect(least == 5)
            #expect(most == .max)
            let largest: Aggregate<Line, UInt64?> = .maximum(of: unlisted)
            #expect(try context.aggregate(Line.self, largest) == .max)
            #expect(throws: (any Error).self) { try context.aggregate(Line.self, .sum(of: code)) }
            let groups = try context.aggregate(
                Line.self,
                groupedBy: \.name,
                computing: .count(),
                having: .maximum(of: code) > 100
            )
            #expect(groups.map(\.0) == ["a", "d"])
        }
    }

    @Test func `models are sorted by coalesced numbers`() throws {
        let (zero, one, seven) = (zero, one, UInt64(7))
        let code = #Expression<Line, UInt64> { $0.code ?? seven }
        let half = #Expression<Line, UInt64> { ($0.code ?? seven) / 2 }
        let product = #Expression<Line, Decimal> { ($0.price ?? zero) * ($0.quantity ?? one) }
        try onBothPaths {
            #expect(try names(sortedBy: SortExpression(code)) == ["b", "c", "d", "a"])
            #expect(try names(sortedBy: SortExpression(half)) == ["b", "c", "d", "a"])
            let sorted = try names(sortedBy: SortExpression(product, order: .reverse), SortExpression(code))
            #expect(sorted == ["a", "c", "b", "d"])
        }
    }

    @Test func `a batch deletion deletes only the models of the condition`() throws {
        try context.save()
        let (zero, one) = (zero, one)
        try context.delete(
            model: Line.self,
            where: #Predicate { !(($0.price ?? zero) * ($0.quantity ?? one) > one) }
        )
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Line>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["a", "c"])
    }

    @Test func `choices in the text form take the type of their parts`() throws {
        try onBothPaths {
            let product = try Line.predicate(
                format: "TERNARY(name == 'b', 0, price) * TERNARY(name == 'c', 1, quantity) > 1"
            )
            #expect(try names(product) == ["a", "c"])
            #expect(try names(Line.predicate(format: "coalesce(code, 0) / 2 > 7")) == ["a", "d"])
            let constants = "TERNARY(isFirst, 18446744073709551615, 5) / 2 > 7"
            #expect(try names(Line.predicate(format: constants)) == ["a"])
        }
    }
}
